import { Action, type Clock, type Principal, RefusedError, type ShardedId } from 'fw-actions';
import type { NoteRepository } from '../generated/note.js';
import type { Note } from '../note.js';

export interface NoteParams {
  readonly noteId: ShardedId<Note>;
}

/** What all actions on one note share: the repository and the guard. */
export abstract class NoteAction<P extends NoteParams = NoteParams, R = Note> extends Action<P, R> {
  protected readonly notes: NoteRepository;

  constructor(clock: Clock, notes: NoteRepository) {
    super(clock);
    this.notes = notes;
  }

  protected async openNote(_principal: Principal, { noteId }: P): Promise<Note> {
    const note = await this.notes.getById(noteId);
    if (note.state !== 'OPEN') throw new RefusedError('The note is done');
    return note;
  }
}

/** A base above the base. */
export abstract class NoteReader extends NoteAction {}
