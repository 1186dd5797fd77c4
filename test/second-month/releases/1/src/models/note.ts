import { AutoBuilder, Model, ShardedId, type ShardIdentifier } from 'fw-actions';
import { NoteLikedEvent } from '../events/note-liked-event.js';
import { NoteWrittenEvent } from '../events/note-written-event.js';
import { NoteBuilder } from '../generated/note.js';

export type NoteState = 'OPEN' | 'DONE';

/** Something to remember. */
@AutoBuilder
export class Note extends Model<Note, ShardedId<Note>, NoteState> {
  readonly text!: string;
  readonly author!: string;
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
  static write(shard: ShardIdentifier, text: string, author: string, now: Date): Note {
    const id = ShardedId.generate(Note, shard);
    return NoteBuilder.note()
      .id(id)
      .state('OPEN')
      .createdDate(now)
      .withInitialVersion()
      .text(text)
      .author(author)
      .likes(0)
      .withEvent(new NoteWrittenEvent(id, text, author))
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
