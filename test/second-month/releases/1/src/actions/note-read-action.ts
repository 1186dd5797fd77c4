import { Allow, everyone, FwAction, HttpRoute, type Principal, type ShardedId } from 'fw-actions';
import type { Note } from '../models/note.js';
import { NoteResponse } from '../responses/note-response.js';
import { NoteAction } from './note-action.js';

export interface NoteReadParams {
  readonly noteId: ShardedId<Note>;
}

/** Shows a note. */
@FwAction
@Allow(everyone)
@HttpRoute('GET', '/notes/{noteId}', { response: NoteResponse, etag: 'version' })
export class NoteReadAction extends NoteAction<NoteReadParams, Note> {
  protected perform(_principal: Principal, { noteId }: NoteReadParams): Promise<Note> {
    return this.notes.getById(noteId);
  }
}
