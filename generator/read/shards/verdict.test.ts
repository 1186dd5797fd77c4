import { expect, test } from 'vitest';
import { projectPerTest } from '../../test-support/projects.js';
import { readProject } from '../read-project.js';

const project = projectPerTest('fwgen040-nothing');

const NOTE = `import { AutoBuilder, Model, ShardedId, type ShardIdentifier } from 'fw-actions';
import { NoteBuilder } from './generated/note.js';
@AutoBuilder
export class Note extends Model<Note, ShardedId<Note>, 'OPEN'> {
  readonly otherId!: ShardedId<Note>;
  readonly releaseId?: string;
  static open(shard: ShardIdentifier): Note {
    const id = ShardedId.generate(Note, shard);
    return NoteBuilder.note().id(id).state('OPEN').build();
  }
  static openAt(id: ShardedId<Note>): Note {
    return NoteBuilder.note().id(id).state('OPEN').build();
  }
  touch(): Note { return this.copy().state('OPEN').build(); }
  rename(): Note { return NoteBuilder.copyOf(this).state('OPEN').build(); }
  releasedBy(releaseId: string): Note { return NoteBuilder.copyOf(this).releaseId(releaseId).build(); }
  move(id: ShardedId<Note>): Note { return NoteBuilder.copyOf(this).id(id).build(); }
  copy(): NoteBuilder { return NoteBuilder.copyOf(this); }
}
`;

const SAGA = `import { FwSaga, Saga } from 'fw-actions';
import { Note } from './note.js';
@FwSaga
export class NoteSaga extends Saga<Note> {
  readonly state = Note;
  readonly steps = {};
}
`;

const FIELD = `readonly #notes: NoteRepository;
  constructor(clock: Clock, notes: NoteRepository) { super(clock); this.#notes = notes; }`;
const PARAMETER_PROPERTY =
  'constructor(clock: Clock, private readonly notes: NoteRepository) { super(clock); }';

/** The source of a body in which `load(id)` reads a note, and `add`, `update` and `expect` are those of the plan. */
function inFull(body: string): string {
  const loaded = body.replaceAll(/\bload\(([\w.]+)\)/g, 'await this.#notes.getById($1.getValue())');
  return loaded.replaceAll(/(?<![\w.#])(add|update|expect)\(/g, 'this.plan().$1(');
}

/** The verdict on an action with this body. @param wiring how the class keeps its repository */
function verdictOn(body: string, wiring: string = FIELD): string {
  const isField = wiring === FIELD;
  project.write('src/note.ts', NOTE);
  project.write('src/note-saga.ts', SAGA);
  project.write(
    'src/act.ts',
    `import { Action, type Clock, FwAction, type Principal, ShardedId, ShardIdentifier } from 'fw-actions';
import type { NoteRepository } from './generated/note.js';
import { Note } from './note.js';
import { NoteSaga } from './note-saga.js';
export interface Params { readonly a: ShardedId<Note>; readonly b: ShardedId<Note>; readonly text: string }
const HOME = ShardIdentifier.of(0, 0);
const AWAY = ShardIdentifier.of(1, 0);
function pick(text: string): ShardIdentifier { return text === 'x' ? HOME : AWAY; }
@FwAction
export class Act extends Action<Params, void> {
  ${wiring}
  protected async perform(_principal: Principal, params: Params): Promise<void> {
    ${isField ? inFull(body) : inFull(body).replaceAll('#notes', 'notes')}
  }
  #loud(): void { this.plan().add(Note.open(AWAY)); }
}
`,
  );
  const paths = { source: 'src', output: 'src/generated', migrations: 'src/migrations' };
  const [verdict] = readProject(project.folder, paths).shardVerdicts();
  return `${verdict?.verdict}: ${verdict?.message}`;
}

test.each([
  ['nothing staged', 'load(params.a);', 'It stages nothing'],
  ['one id from params', 'const n = load(params.a); update(n.touch());', 'params.a'],
  ['a destructured id', 'const { a } = params; const n = load(a); update(n.rename());', 'params.a'],
  [
    'a model and a new one beside it',
    'const n = load(params.a); update(n.touch()); add(Note.open(n.id.resolveShardIdentifier()));',
    'params.a',
  ],
  ['one constant', 'add(Note.open(HOME)); add(Note.open(ShardIdentifier.of(0, 0)));', 'shard (0, 0)'],
  [
    'one new id',
    'const id = ShardedId.generate(Note, HOME); add(Note.openAt(id)); expect(Note.openAt(id));',
    'shard (0, 0)',
  ],
  [
    'a plan in a variable',
    'const plan = this.plan(); const n = load(params.a); plan.update(n.touch()); plan.expect(n);',
    'params.a',
  ],
  ['a loop on one id', 'for (const x of [1, 2]) { void x; expect(load(params.a)); }', 'params.a'],
  [
    'a model that is added unless its key is there',
    'const n = await this.plan().getOrAdd(this.#notes, Note.open(HOME)); update(n.touch());',
    'shard (0, 0)',
  ],
  [
    'a model that is found by its key',
    "const n = await this.#notes.getByKey({ text: 'x' }, HOME); update(n.touch()); add(Note.open(HOME));",
    'shard (0, 0)',
  ],
  ['an action scheduled alone', 'this.plan().schedule(this.clock.now(), Act, params);', 'It stages nothing'],
])('proven: %s', (_what, body, origin) => {
  const verdict = verdictOn(body);
  expect(verdict).toMatch(/^proven: /);
  expect(verdict).toContain(origin);
  project.use('fwgen040-nothing');
  expect(verdictOn(body, PARAMETER_PROPERTY)).toBe(verdict);
});

const HIDDEN = 'may stage models, and is not analysed';

test.each([
  [
    'two ids from params',
    'const [a, b] = await Promise.all([this.#notes.getById(params.a.getValue()), this.#notes.getById(params.b.getValue())]); update(a.touch()); update(b.touch());',
    'params.a and params.b may be on different shards',
  ],
  [
    'an id and a constant',
    'const n = load(params.a); update(n.touch()); add(Note.open(HOME));',
    'params.a and shard (0, 0) may be',
  ],
  [
    'an id that a model holds',
    'const n = load(params.a); const o = load(n.otherId); update(n.touch()); update(o.touch());',
    'is unknown',
  ],
  [
    'a shard that a function chooses',
    'add(Note.open(pick(params.text))); add(Note.open(pick(params.text)));',
    'is unknown',
  ],
  ['a loop over many', 'for (const id of [params.a, params.b]) expect(load(id));', 'is unknown'],
  [
    'a variable that changes',
    'let id = params.a; expect(load(id)); id = params.b; expect(load(id));',
    'is unknown',
  ],
  [
    'a method that changes the id',
    'const n = load(params.a); update(n.move(params.b)); expect(n);',
    'is unknown',
  ],
  [
    'two constants on two branches',
    "if (params.text === 'x') add(Note.open(HOME)); else add(Note.open(AWAY));",
    'may be on different shards',
  ],
  [
    'an action whose id is used before a model is staged',
    'const later = this.plan().schedule(this.clock.now(), Act, params); add(Note.open(HOME).releasedBy(later.id));',
    HIDDEN,
  ],
  [
    'a scheduled action of another plan',
    'const n = load(params.a); update(n.touch()); this.plan().cancelSchedule(params.text);',
    HIDDEN,
  ],
  ['the plan handed on', 'pick(String(this.plan())); add(Note.open(HOME));', HIDDEN],
  ['the action handed on', 'pick(String(this)); add(Note.open(HOME));', HIDDEN],
  ['a saga started', 'NoteSaga.start(this.plan(), Note.open(HOME));', HIDDEN],
  ['a helper of the action', 'this.#loud(); add(Note.open(HOME));', HIDDEN],
])('unproven: %s', (_what, body, reason) => {
  const verdict = verdictOn(body);
  expect(verdict).toMatch(/^unproven: /);
  expect(verdict).toContain(reason);
});
