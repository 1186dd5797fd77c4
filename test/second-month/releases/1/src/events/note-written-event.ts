import { ModelEvent, type ShardedId } from 'fw-actions';
import { Note } from '../models/note.js';

/** A note was written. */
export class NoteWrittenEvent extends ModelEvent<Note> {
  readonly text: string;
  readonly author: string;

  constructor(id: ShardedId<Note>, text: string, author: string) {
    super(id.toString(), Note);
    this.text = text;
    this.author = author;
  }
}
