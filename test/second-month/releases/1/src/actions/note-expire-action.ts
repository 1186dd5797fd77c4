import { FwAction, type Principal, type ShardedId } from 'fw-actions';
import type { Note } from '../models/note.js';
import { NoteAction } from './note-action.js';

export interface NoteExpireParams {
  readonly noteId: ShardedId<Note>;
  readonly cause: string;
}

/** Ends a note whose time is over. */
@FwAction
export class NoteExpireAction extends NoteAction<NoteExpireParams, void> {
  protected async perform(_principal: Principal, { noteId, cause }: NoteExpireParams): Promise<void> {
    const note = await this.notes.getById(noteId);
    this.plan().update(note.finish(cause));
  }
}
