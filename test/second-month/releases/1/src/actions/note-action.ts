import { Action, type Clock } from 'fw-actions';
import type { NoteRepository } from '../generated/note.js';

/** An action on notes that are there already. */
export abstract class NoteAction<Params, Result> extends Action<Params, Result> {
  protected readonly notes: NoteRepository;

  constructor(clock: Clock, notes: NoteRepository) {
    super(clock);
    this.notes = notes;
  }
}
