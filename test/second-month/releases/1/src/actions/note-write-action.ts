import { Action, Allow, everyone, FwAction, HttpRoute, type Principal, ShardIdentifier } from 'fw-actions';
import { Note } from '../models/note.js';
import { NoteResponse } from '../responses/note-response.js';
import { NoteExpireAction } from './note-expire-action.js';

export interface NoteWriteParams {
  /**
   * What to remember.
   * @minLength 1
   * @maxLength 1000
   */
  readonly text: string;
  readonly author: string;
  /**
   * Seconds until the note is done.
   * @integer
   * @minimum 0
   */
  readonly seconds: number;
}

/** Writes a note. */
@FwAction
@Allow(everyone)
@HttpRoute('POST', '/notes', {
  status: 201,
  response: NoteResponse,
  location: '/notes/{id}',
  etag: 'version',
})
export class NoteWriteAction extends Action<NoteWriteParams, Note> {
  protected perform(_principal: Principal, { text, author, seconds }: NoteWriteParams): Note {
    const now = this.clock.now();
    const note = this.plan().add(Note.write(ShardIdentifier.of(0, 0), text, author, now));
    const at = new Date(now.getTime() + seconds * 1000);
    this.plan().schedule(at, NoteExpireAction, { noteId: note.id, cause: 'expired' });
    return note;
  }
}
