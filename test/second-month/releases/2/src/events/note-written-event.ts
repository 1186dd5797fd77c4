import { ModelEvent, type ShardedId } from 'fw-actions';
import type { NoteWrittenEventUpcasters } from '../generated/versions.js';
import { Note } from '../models/note.js';

/**
 * A note was written.
 * @version 2
 */
export class NoteWrittenEvent extends ModelEvent<Note> {
  /** Version 1 had the text. */
  static readonly upcasters: NoteWrittenEventUpcasters = [
    ({ text, author }) => ({ writer: author, words: text.split(' ').length }),
  ];

  readonly writer: string;
  readonly words: number;

  constructor(id: ShardedId<Note>, writer: string, words: number) {
    super(id.toString(), Note);
    this.writer = writer;
    this.words = words;
  }
}
