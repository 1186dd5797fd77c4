import { ModelEvent, type ShardedId } from 'fw-actions';
import { Note } from '../models/note.js';

/** A note was liked. */
export class NoteLikedEvent extends ModelEvent<Note> {
  constructor(id: ShardedId<Note>) {
    super(id.toString(), Note);
  }
}
