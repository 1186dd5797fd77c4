import { FwAction, type Principal, type ShardedId } from 'fw-actions';
import type { Note } from '../models/note.js';
import { NoteAction } from './note-action.js';

export interface NoteCountParams {
  readonly noteId: ShardedId<Note>;
  /** @integer */
  readonly words: number;
}

/** Notes how many words a note has. */
@FwAction
export class NoteCountAction extends NoteAction<NoteCountParams, void> {
  protected async perform(_principal: Principal, { noteId, words }: NoteCountParams): Promise<void> {
    this.plan().update((await this.notes.getById(noteId)).counted(words));
  }
}
