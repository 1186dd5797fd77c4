import { Allow, everyone, FwAction, HttpRoute, type Principal, type ShardedId } from 'fw-actions';
import type { Note } from '../models/note.js';
import { NoteResponse } from '../responses/note-response.js';
import { NoteAction } from './note-action.js';

export interface NoteLikeParams {
  readonly noteId: ShardedId<Note>;
}

/** Likes a note. */
@FwAction
@Allow(everyone)
@HttpRoute('POST', '/notes/{noteId}/likes', { response: NoteResponse })
export class NoteLikeAction extends NoteAction<NoteLikeParams, Note> {
  protected async perform(_principal: Principal, { noteId }: NoteLikeParams): Promise<Note> {
    return this.plan().update((await this.notes.getById(noteId)).like());
  }
}
