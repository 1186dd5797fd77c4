import { AutoBuilder, Model, ModelEvent, type ShardedId } from 'fw-actions';

export class NoteWrittenEvent extends ModelEvent<Note> {
  readonly text: string;
  readonly due: Date;

  constructor(note: Note) {
    super(note.id.getValue(), Note);
    this.text = note.text;
    this.due = note.due;
  }
}

/** Was the class Memo, and keeps its stored name. */
@AutoBuilder({ name: 'team/memo' })
export class Note extends Model<Note, ShardedId<Note>, 'OPEN' | 'DONE'> {
  readonly text!: string;
  readonly due!: Date;
}
