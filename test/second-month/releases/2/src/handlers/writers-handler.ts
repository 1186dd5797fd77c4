import { type EventEnvelope, type EventHandler, FwEventHandler } from 'fw-actions';
import { WriterCountAction } from '../actions/writer-count-action.js';
import { NoteWrittenEvent } from '../events/note-written-event.js';

/** Counts the notes of each writer, from the first note on: it reads the events of the first release as well. */
@FwEventHandler({ event: NoteWrittenEvent })
export class WritersHandler implements EventHandler<NoteWrittenEvent> {
  async handle(envelope: EventEnvelope<NoteWrittenEvent>): Promise<void> {
    await envelope.execute(WriterCountAction, { name: envelope.event.writer });
  }
}
