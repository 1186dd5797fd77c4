import { AutoBuilder, Model, ModelEvent, type ShardedId } from 'fw-actions';
import type { NoteRatedEventUpcasters } from './generated/versions.js';

export class NoteWrittenEvent extends ModelEvent<Note> {
  readonly text: string;
  readonly due: Date;

  constructor(note: Note) {
    super(note.id.getValue(), Note);
    this.text = note.text;
    this.due = note.due;
  }
}

/** @version 2 */
export class NoteRatedEvent extends ModelEvent<Note> {
  static readonly upcasters: NoteRatedEventUpcasters = [({ liked }) => ({ stars: liked ? 5 : 1 })];

  readonly stars!: number;
}

/** Was the class Memo, and keeps its stored name. */
@AutoBuilder({ name: 'team/memo' })
export class Note extends Model<Note, ShardedId<Note>, 'OPEN' | 'DONE'> {
  readonly text!: string;
  readonly due!: Date;
}
