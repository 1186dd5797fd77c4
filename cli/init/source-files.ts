/** The application of a new project, by path. */
export function sourceFiles(tokenFile: string): ReadonlyMap<string, string> {
  return new Map([
    ['src/main.ts', main(tokenFile)],
    ['src/rules.ts', RULES],
    ['src/models/note.ts', NOTE],
    ['src/events/note-written-event.ts', EVENT],
    ['src/actions/note-write-action.ts', WRITE_ACTION],
    ['src/actions/note-read-action.ts', READ_ACTION],
    ['src/actions/note-write-action.test.ts', WRITE_TEST],
    ['src/actions/note-read-action.test.ts', READ_TEST],
    ['src/responses/note-response.ts', RESPONSE],
  ]);
}

function main(tokenFile: string): string {
  return `import { developmentToken } from 'fw-actions';
import { startServer } from './generated/server.js';

// Refuses every request without the token. If fw.access configures authentication, that replaces the token.
await startServer({ title: 'Notes', authenticator: developmentToken({ file: '${tokenFile}' }) });
`;
}

const RULES = `import { type ModelRule, visible } from 'fw-actions';
import { Note } from './models/note.js';

/** A caller reads and writes its own notes. */
export const ownNotes: ModelRule<Note> = visible(Note, ({ name }) => ({ owner: name }));
`;

const NOTE = `import { AutoBuilder, Model, ShardedId, type ShardIdentifier } from 'fw-actions';
import { NoteWrittenEvent } from '../events/note-written-event.js';
import { NoteBuilder } from '../generated/note.js';

export type NoteState = 'OPEN' | 'DONE';

/** Something to remember. */
@AutoBuilder
export class Note extends Model<Note, ShardedId<Note>, NoteState> {
  readonly text!: string;
  /** Name of the principal that wrote it. */
  readonly owner!: string;

  /** Writes a note down, on one shard. */
  static write(shard: ShardIdentifier, owner: string, text: string, now: Date): Note {
    const id = ShardedId.generate(Note, shard);
    return NoteBuilder.note()
      .id(id)
      .state('OPEN')
      .createdDate(now)
      .withInitialVersion()
      .text(text)
      .owner(owner)
      .withEvent(new NoteWrittenEvent(id, text))
      .build();
  }
}
`;

const EVENT = `import { ModelEvent, type ShardedId } from 'fw-actions';
import { Note } from '../models/note.js';

/** A note was written. */
export class NoteWrittenEvent extends ModelEvent<Note> {
  readonly text: string;

  constructor(id: ShardedId<Note>, text: string) {
    super(id.toString(), Note);
    this.text = text;
  }
}
`;

const WRITE_ACTION = `import { Action, Allow, type Clock, FwAction, HttpRoute, type Placement, type Principal } from 'fw-actions';
import { Note } from '../models/note.js';
import { NoteResponse } from '../responses/note-response.js';
import { ownNotes } from '../rules.js';

export interface NoteWriteParams {
  /**
   * What to remember.
   * @minLength 1
   * @maxLength 1000
   */
  readonly text: string;
}

/** Writes a note. */
@FwAction
@Allow(ownNotes)
@HttpRoute('POST', '/notes', { status: 201, response: NoteResponse, location: '/notes/{id}', etag: 'version' })
export class NoteWriteAction extends Action<NoteWriteParams, Note> {
  readonly #placement: Placement;

  constructor(clock: Clock, placement: Placement) {
    super(clock);
    this.#placement = placement;
  }

  protected async perform({ name }: Principal, { text }: NoteWriteParams): Promise<Note> {
    const shard = await this.#placement.choose(0, { kind: 'weighted' });
    return this.plan().add(Note.write(shard, name, text, this.clock.now()));
  }
}
`;

const READ_ACTION = `import { Action, Allow, type Clock, FwAction, HttpRoute, type Principal, type ShardedId } from 'fw-actions';
import type { NoteRepository } from '../generated/note.js';
import type { Note } from '../models/note.js';
import { NoteResponse } from '../responses/note-response.js';
import { ownNotes } from '../rules.js';

export interface NoteReadParams {
  readonly noteId: ShardedId<Note>;
}

/** Shows a note. */
@FwAction
@Allow(ownNotes)
@HttpRoute('GET', '/notes/{noteId}', { response: NoteResponse, etag: 'version' })
export class NoteReadAction extends Action<NoteReadParams, Note> {
  readonly #notes: NoteRepository;

  constructor(clock: Clock, notes: NoteRepository) {
    super(clock);
    this.#notes = notes;
  }

  protected perform(_principal: Principal, { noteId }: NoteReadParams): Promise<Note> {
    return this.#notes.getById(noteId);
  }
}
`;

const RESPONSE = `import type { ShardedId } from 'fw-actions';
import type { Note, NoteState } from '../models/note.js';

/** A note as callers see it. */
export class NoteResponse {
  readonly id: ShardedId<Note>;
  readonly text: string;
  readonly state: NoteState;
  readonly version: number;

  private constructor(note: Note) {
    this.id = note.id;
    this.text = note.text;
    this.state = note.state;
    this.version = note.version;
  }

  static from(note: Note): NoteResponse {
    return new NoteResponse(note);
  }
}
`;

const WRITE_TEST = `import { describe, test } from 'node:test';
import { actionSpec } from 'fw-actions/testing';
import { NoteWriteAction } from './note-write-action.js';

const write = actionSpec({ create: (kit) => new NoteWriteAction(kit.clock, kit.placement) });

describe('NoteWriteAction', () => {
  test('opens a note of the caller with its text', async () => {
    await write
      .as({ name: 'ada' })
      .when({ text: 'Buy milk' })
      .thenReturns({ text: 'Buy milk', owner: 'ada', state: 'OPEN', version: 1 });
  });
});
`;

const READ_TEST = `import { describe, test } from 'node:test';
import { ForbiddenError, ShardIdentifier } from 'fw-actions';
import { applicationSpecs } from 'fw-actions/testing';
import { application } from '../generated/application.js';
import { Note } from '../models/note.js';
import { NoteReadAction } from './note-read-action.js';

const read = applicationSpecs(application).action(NoteReadAction);
const note = Note.write(ShardIdentifier.of(0, 0), 'ada', 'Buy milk', new Date());

describe('NoteReadAction', () => {
  test('shows a note to its owner', async () => {
    await read.given(note).as({ name: 'ada' }).when({ noteId: note.id }).thenReturns({ text: 'Buy milk' });
  });

  test('is refused to other callers', async () => {
    await read.given(note).as({ name: 'grace' }).when({ noteId: note.id }).thenFails(ForbiddenError);
  });
});
`;
