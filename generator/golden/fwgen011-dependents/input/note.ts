import { FwSaga, Model, ModelEvent, Repository, Saga, type ShardedId } from 'fw-actions';

/** Everything else depends on this class: only the missing mark is reported. */
export class Note extends Model<Note, ShardedId<Note>, 'OPEN'> {
  readonly text!: string;
}

export class NoteWritten extends ModelEvent<Note> {
  readonly note!: ShardedId<Note>;
}

export class PlainRepository extends Repository<Note> {}

@FwSaga
export class NoteSaga extends Saga<Note> {
  readonly state = Note;
  readonly steps = {};
}
