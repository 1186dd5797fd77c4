import { Action, Clock, FwAction, HttpRoute, type Principal, type ShardedId } from 'fw-actions';
import { DraftRepository } from './generated/draft.js';
import { NoteRepository } from './generated/note.js';
import type { Note } from './note.js';

export class NoteResponse {
  readonly id!: ShardedId<Note>;
  static from(note: Note): NoteResponse {
    return note;
  }
}

export interface NoteReadParams {
  readonly noteId: ShardedId<Note>;
}

@FwAction
@HttpRoute('GET', '/notes/{noteId}', { response: NoteResponse, etag: 'id' })
export class NoteReadAction extends Action<NoteReadParams, Note> {
  constructor(
    clock: Clock,
    readonly notes: NoteRepository,
    readonly drafts: DraftRepository,
  ) {
    super(clock);
  }

  protected perform(_principal: Principal, { noteId }: NoteReadParams): Promise<Note> {
    return this.notes.getById(noteId);
  }
}
