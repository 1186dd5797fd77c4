import { AutoBuilder, Model, type ShardedId } from 'fw-actions';
import { NoteBuilder } from './generated/note.js';

@AutoBuilder
export class Note extends Model<Note, ShardedId<Note>, 'OPEN' | 'DONE'> {
  readonly text!: string;

  done(): Note {
    return NoteBuilder.copyOf(this).state('DONE').build();
  }
}
