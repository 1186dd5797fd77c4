import { AutoBuilder, Model, ShardedId, type ShardIdentifier } from 'fw-actions';
import { NoteLikedEvent } from '../events/note-liked-event.js';
import { NoteWrittenEvent } from '../events/note-written-event.js';
import { NoteBuilder } from '../generated/note.js';

export type NoteState = 'OPEN' | 'DONE';

/** What a new note is made of. */
export type NewNote = Pick<Note, 'text' | 'writer' | 'language'>;

/** Something to remember. */
@AutoBuilder
export class Note extends Model<Note, ShardedId<Note>, NoteState> {
  readonly text!: string;
  readonly writer!: string;
  readonly language!: string;
  /** @integer */
  readonly likes!: number;
  /**
   * Counted soon after it was written.
   * @integer
   */
  readonly words?: number;
  /** Why it is done. */
  readonly reason?: string;

  /** Writes a note down, on one shard. */
  static write(shard: ShardIdentifier, { text, writer, language }: NewNote, now: Date): Note {
    const id = ShardedId.generate(Note, shard);
    return NoteBuilder.note()
      .id(id)
      .state('OPEN')
      .createdDate(now)
      .withInitialVersion()
      .text(text)
      .writer(writer)
      .language(language)
      .likes(0)
      .withEvent(new NoteWrittenEvent(id, writer, text.split(' ').length))
      .build();
  }

  like(): Note {
    return NoteBuilder.copyOf(this)
      .likes(this.likes + 1)
      .withEvent(new NoteLikedEvent(this.id))
      .build();
  }

  counted(words: number): Note {
    return NoteBuilder.copyOf(this).words(words).build();
  }

  finish(reason: string): Note {
    return NoteBuilder.copyOf(this).state('DONE').reason(reason).build();
  }
}
