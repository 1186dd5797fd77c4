import { FwAction, type Principal, type ShardedId } from 'fw-actions';
import type { NoteExpireActionParamsUpcasters } from '../generated/versions.js';
import type { Note } from '../models/note.js';
import { NoteAction } from './note-action.js';

export interface NoteExpireParams {
  readonly noteId: ShardedId<Note>;
  readonly reason: string;
  /** @integer */
  readonly seconds: number;
}

/**
 * Ends a note whose time is over.
 * @version 2
 */
@FwAction
export class NoteExpireAction extends NoteAction<NoteExpireParams, void> {
  /** Version 1 did not know the time, and called the reason a cause. */
  static readonly upcasters: NoteExpireActionParamsUpcasters = [
    ({ noteId, cause }) => ({ noteId, reason: cause, seconds: -1 }),
  ];

  protected async perform(_principal: Principal, params: NoteExpireParams): Promise<void> {
    const note = await this.notes.getById(params.noteId);
    this.plan().update(note.finish(`${params.reason} after ${params.seconds} s`));
  }
}
