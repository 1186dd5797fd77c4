import { Model, ModelEvent, Repository, type ShardedId } from 'fw-actions';

/** Everything else depends on this class: only the missing mark is reported. */
export class Note extends Model<Note, ShardedId<Note>, 'OPEN'> {
  readonly text!: string;
}

export class NoteWritten extends ModelEvent<Note> {
  readonly note!: ShardedId<Note>;
}

export class PlainRepository extends Repository<Note> {}
