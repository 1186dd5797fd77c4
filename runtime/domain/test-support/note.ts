import { randomUUID } from 'node:crypto';
import type { ModelDescriptor } from '../entity.js';
import { Entity } from '../entity.js';
import { Id } from '../id.js';
import { INITIAL_VERSION, ModelBuilder } from '../model-builder.js';

/** An entity without dates, events and a shard. */
export class Note extends Entity<Note, Id<Note>, 'WRITTEN'> {
  readonly text!: string;
}

export const noteModel: ModelDescriptor<Note> = {
  name: 'Note',
  kind: 'entity',
  modelClass: () => Note,
  table: 'notes',
  sharded: false,
  columns: [
    { field: 'id', column: 'id', type: { kind: 'id', model: 'Note', sharded: false }, sqlType: 'uuid' },
    { field: 'state', column: 'state', type: { kind: 'enum', values: ['WRITTEN'] }, sqlType: 'text' },
    { field: 'version', column: 'version', type: { kind: 'number' }, sqlType: 'bigint' },
    { field: 'text', column: 'text', type: { kind: 'string' }, sqlType: 'text' },
  ],
};

class NoteBuilder extends ModelBuilder<Note> {
  constructor() {
    super(noteModel);
  }

  write(text: string): Note {
    this.put('id', Id.of(Note, randomUUID()));
    this.put('state', 'WRITTEN');
    this.put('version', INITIAL_VERSION);
    this.put('text', text);
    return this.instantiate();
  }
}

/** A new note. */
export function newNote(text: string): Note {
  return new NoteBuilder().write(text);
}
