import type { ShardedId } from 'fw-actions';
import type { Note, NoteState } from '../models/note.js';

/** A note as callers see it. */
export class NoteResponse {
  readonly id: ShardedId<Note>;
  readonly text: string;
  readonly author: string;
  readonly likes: number;
  readonly state: NoteState;
  readonly version: number;

  private constructor(note: Note) {
    this.id = note.id;
    this.text = note.text;
    this.author = note.author;
    this.likes = note.likes;
    this.state = note.state;
    this.version = note.version;
  }

  static from(note: Note): NoteResponse {
    return new NoteResponse(note);
  }
}
