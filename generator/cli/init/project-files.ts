/** What a new project is made of. */
export interface NewProject {
  /** Name of the package. */
  readonly name: string;
  /** What `package.json` asks for: a range of versions of this package. */
  readonly frameworkRange: string;
}

/** Every file of a new project, by path. */
export function projectFiles(project: NewProject): ReadonlyMap<string, string> {
  return new Map([
    ['package.json', packageJson(project)],
    ['tsconfig.json', TSCONFIG],
    ['fw.config.yaml', configuration(project)],
    ['.gitignore', 'node_modules/\ndist/\ndata/\n'],
    ['src/main.ts', MAIN],
    ['src/models/note.ts', NOTE],
    ['src/events/note-written-event.ts', EVENT],
    ['src/actions/note-write-action.ts', WRITE_ACTION],
    ['src/actions/note-read-action.ts', READ_ACTION],
    ['src/actions/note-write-action.test.ts', TEST],
    ['src/responses/note-response.ts', RESPONSE],
  ]);
}

function packageJson({ name, frameworkRange }: NewProject): string {
  const content = {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: { node: '>=20.19' },
    scripts: {
      dev: 'fw-gen dev',
      generate: 'fw-gen generate',
      build: 'fw-gen generate --quiet && tsc',
      pretest: 'npm run --silent build',
      // Node 20 takes a folder and Node 22 a pattern; all of them take the current folder.
      test: 'cd dist && node --test',
      prestart: 'npm run --silent build',
      start: 'node dist/main.js',
    },
    dependencies: { 'fw-actions': frameworkRange },
    devDependencies: { '@electric-sql/pglite': '^0.5.16', '@types/node': '^20.19.0', typescript: '^7.0.2' },
  };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

const TSCONFIG = `{
  "compilerOptions": {
    "target": "ES2022",
    "lib": ["ES2023"],
    "types": ["node"],
    "module": "NodeNext",
    "rootDir": "src",
    "outDir": "dist",
    "strict": true,
    "exactOptionalPropertyTypes": true,
    "noUncheckedIndexedAccess": true,
    "noImplicitOverride": true,
    "noPropertyAccessFromIndexSignature": true,
    "verbatimModuleSyntax": true,
    "isolatedModules": true,
    "skipLibCheck": true
  },
  "include": ["src"]
}
`;

function configuration({ name }: NewProject): string {
  return `# yaml-language-server: $schema=./node_modules/fw-actions/dist/generator/config.schema.json
# The configuration of fw-gen and of the running service. Every key: node_modules/fw-actions/docs/configuration.md
fw:
  # Written to the namespace column of every outbox row.
  namespace: ${JSON.stringify(name)}

  # What \`fw-gen generate\` reads and writes.
  generator:
    source: src
    output: src/generated
    migrations: src/migrations

  # One shard on the embedded database, a development dependency. A server: jdbc:postgresql://host:port/database
  sharding:
    default-shard: { group: 0, member: 0 }
    groups:
      # Group and member numbers are part of every id: never change them once there is data.
      - group: 0
        name: main
        members:
          - member: 0
            name: main-1
            configs:
              primary-config:
                jdbc-url: jdbc:pglite:file:./data/main
`;
}

const MAIN = `import { fixedPrincipal } from 'fw-actions';
import { startServer } from './generated/server.js';

// Demo only: every request has the same principal. A real service passes an authenticator that checks the request.
await startServer({ title: 'Notes', authenticator: fixedPrincipal('demo') });
`;

const NOTE = `import { AutoBuilder, Model, ShardedId, type ShardIdentifier } from 'fw-actions';
import { NoteWrittenEvent } from '../events/note-written-event.js';
import { NoteBuilder } from '../generated/note.js';

export type NoteState = 'OPEN' | 'DONE';

/** Something to remember. */
@AutoBuilder
export class Note extends Model<Note, ShardedId<Note>, NoteState> {
  readonly text!: string;

  /** Writes a note down, on one shard. */
  static write(shard: ShardIdentifier, text: string, now: Date): Note {
    const id = ShardedId.generate(Note, shard);
    return NoteBuilder.note()
      .id(id)
      .state('OPEN')
      .createdDate(now)
      .withInitialVersion()
      .text(text)
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

const WRITE_ACTION = `import { Action, Allow, everyone, FwAction, HttpRoute, type Principal, ShardIdentifier } from 'fw-actions';
import { Note } from '../models/note.js';
import { NoteResponse } from '../responses/note-response.js';

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
@Allow(everyone)
@HttpRoute('POST', '/notes', { status: 201, response: NoteResponse, location: '/notes/{id}', etag: 'version' })
export class NoteWriteAction extends Action<NoteWriteParams, Note> {
  protected perform(_principal: Principal, params: NoteWriteParams): Note {
    return this.plan().add(Note.write(ShardIdentifier.of(0, 0), params.text, this.clock.now()));
  }
}
`;

const READ_ACTION = `import { Action, Allow, type Clock, everyone, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import type { NoteRepository } from '../generated/note.js';
import type { Note } from '../models/note.js';
import { NoteResponse } from '../responses/note-response.js';

export interface NoteReadParams {
  readonly noteId: Id<Note>;
}

/** Shows a note. */
@FwAction
@Allow(everyone)
@HttpRoute('GET', '/notes/{noteId}', { response: NoteResponse, etag: 'version' })
export class NoteReadAction extends Action<NoteReadParams, Note> {
  readonly #notes: NoteRepository;

  constructor(clock: Clock, notes: NoteRepository) {
    super(clock);
    this.#notes = notes;
  }

  protected perform(_principal: Principal, params: NoteReadParams): Promise<Note> {
    return this.#notes.getById(params.noteId.getValue());
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

const TEST = `import { describe, test } from 'node:test';
import { actionSpec } from 'fw-actions/testing';
import { NoteWriteAction } from './note-write-action.js';

const write = actionSpec({ create: (kit) => new NoteWriteAction(kit.clock) });

describe('NoteWriteAction', () => {
  test('opens a note with its text', async () => {
    await write.when({ text: 'Buy milk' }).thenReturns({ text: 'Buy milk', state: 'OPEN', version: 1 });
  });
});
`;
