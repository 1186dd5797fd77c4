import { type EventEnvelope, type EventHandler, FwEventHandler, ShardedId } from 'fw-actions';
import { NoteCountAction } from '../actions/note-count-action.js';
import { NoteWrittenEvent } from '../events/note-written-event.js';
import { Note } from '../models/note.js';

/** Counts the words of each new note. */
@FwEventHandler({ event: NoteWrittenEvent })
export class WordsHandler implements EventHandler<NoteWrittenEvent> {
  async handle(envelope: EventEnvelope<NoteWrittenEvent>): Promise<void> {
    const { words } = envelope.event;
    await envelope.execute(NoteCountAction, { noteId: ShardedId.of(Note, envelope.modelId), words });
  }
}
