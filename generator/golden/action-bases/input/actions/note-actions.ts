import { type Clock, FwAction, HttpRoute, type Principal } from 'fw-actions';
import type { NoteRepository } from '../generated/note.js';
import type { Note } from '../note.js';
import { NoteAction, type NoteParams, NoteReader } from './note-action.js';

/** Without a constructor and type arguments of its own. */
@FwAction
@HttpRoute('POST', '/notes/{noteId}/done')
export class NoteDoneAction extends NoteAction {
  protected async perform(principal: Principal, params: NoteParams): Promise<Note> {
    return this.plan().update((await this.openNote(principal, params)).done());
  }
}

export interface NoteRenameParams extends NoteParams {
  readonly text: string;
}

/** With type arguments of its own. */
@FwAction
@HttpRoute('POST', '/notes/{noteId}/length')
export class NoteLengthAction extends NoteAction<NoteRenameParams, number> {
  protected async perform(principal: Principal, params: NoteRenameParams): Promise<number> {
    return (await this.openNote(principal, params)).text.length + params.text.length;
  }
}

/** With a constructor of its own, two classes below. */
@FwAction
@HttpRoute('GET', '/notes/{noteId}')
export class NoteReadAction extends NoteReader {
  readonly #greeting: string;

  constructor(clock: Clock, notes: NoteRepository, greeting: string) {
    super(clock, notes);
    this.#greeting = greeting;
  }

  protected async perform(principal: Principal, params: NoteParams): Promise<Note> {
    if (this.#greeting === '') throw new Error('No greeting');
    return this.openNote(principal, params);
  }
}
