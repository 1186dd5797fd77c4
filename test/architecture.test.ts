import { ts } from 'ts-morph';
import { describe, expect, test } from 'vitest';
import * as eventlog from '../runtime/persistence/write/eventlog-tables.js';
import { cyclesOf, type Import, lineOf, readModules, type SourceModule, walk } from './import-graph.js';
import { isOwnTime, isTimeModule } from './own-time.js';

type Arrows = Readonly<Record<string, readonly string[]>>;

/**
 * Allowed imports per layer. A layer is a folder of runtime/ or generator/, or one of the files directly in them that
 * is named here. All other imports are forbidden.
 */
const ALLOWED: Arrows = {
  ...arrowsOf(
    'runtime/',
    `
  error-kinds.ts ->
  errors.ts -> error-kinds.ts
  currency-codes.ts ->
  cron.ts ->
  tracing.ts ->
  migration-header.ts ->
  client -> http errors.ts
  collections ->
  concurrency -> collections domain
  domain -> collections currency-codes.ts errors.ts
  config -> domain errors.ts
  action -> tracing.ts domain errors.ts
  openapi -> currency-codes.ts config domain
  sharding -> concurrency domain collections config errors.ts
  postgres -> concurrency sharding config domain errors.ts
  pglite -> optional-package.ts concurrency sharding config domain errors.ts
  persistence -> tracing.ts concurrency action sharding domain collections errors.ts
  migration -> tracing.ts concurrency retention sharding config domain migration-header.ts errors.ts
  doctor -> concurrency migration sharding config domain errors.ts
  execution -> error-kinds.ts tracing.ts concurrency persistence action sharding config domain collections
  execution -> errors.ts
  locks -> concurrency action sharding domain errors.ts
  retention -> locks concurrency sharding domain errors.ts
  events -> tracing.ts cron.ts concurrency retention execution persistence action sharding domain
  events -> collections errors.ts
  sagas -> tracing.ts collections concurrency events execution persistence action sharding domain errors.ts
  relay -> tracing.ts concurrency events sharding config domain optional-package.ts errors.ts
  optional-package.ts -> errors.ts
  consumer -> relay execution action concurrency domain errors.ts
  observability -> action concurrency retention relay events persistence sharding domain
  access -> openapi concurrency persistence sharding config domain errors.ts
  duration-text.ts ->
  http -> duration-text.ts tracing.ts openapi relay access concurrency observability execution persistence
  http -> collections
  http -> action sharding config domain error-kinds.ts errors.ts application.ts application-definition.ts
  codegen -> errors.ts openapi sagas events persistence migration action http domain
  codegen -> application-definition.ts serve.ts
  testing -> cron.ts relay concurrency sagas events http migration execution persistence action sharding
  testing -> config domain errors.ts application.ts application-definition.ts
`,
  ),
  ...arrowsOf(
    '',
    `
  generator/system-error.ts ->
  generator/content-hash.ts ->
  generator/schema -> runtime/currency-codes.ts runtime/collections runtime/domain
  generator/diagnostics.ts -> generator/schema
  generator/read -> generator/schema generator/content-hash.ts
  generator/read -> generator/diagnostics.ts generator/system-error.ts runtime/config runtime/cron.ts
  generator/read -> runtime/migration-header.ts
  generator/check -> generator/schema generator/diagnostics.ts runtime/config runtime/migration-header.ts
  generator/event-lock -> generator/schema generator/diagnostics.ts
  generator/emit -> runtime/openapi runtime/domain runtime/migration-header.ts generator/schema
  generator/emit -> generator/content-hash.ts generator/diagnostics.ts runtime/config
  generator/write -> generator/emit generator/schema generator/content-hash.ts generator/diagnostics.ts
  generator/write -> generator/system-error.ts runtime/config
  generator/build -> generator/emit generator/read
  cli -> generator/generate.ts generator/content-hash.ts generator/migrations.ts
  cli -> generator/openapi.ts generator/schema generator/templates.ts generator/watch.ts generator/write
  cli -> runtime/operations.ts runtime/duration-text.ts generator/diagnostics.ts generator/system-error.ts
  cli -> runtime/config runtime/errors.ts
`,
  ),
};

/** Allowed imports between the folders of one layer, and from them to files directly in it, which assemble folders. */
const ALLOWED_INSIDE: Arrows = arrowsOf(
  'runtime/',
  `
  events/log ->
  events/delivery -> events/log
  events/dead-letters -> events/delivery events/log
  events/schedules -> events/delivery events/log
  http/docs ->
  http/problem-kinds.ts ->
  http/problem.ts -> http/problem-kinds.ts
  http/media-types.ts -> http/problem.ts
  http/route.ts ->
  http/feed -> http/problem.ts
  http/input -> http/media-types.ts http/problem.ts http/route.ts
`,
);
/** Folders that nothing else in their layer imports: they run what the layer is. */
const OUTERMOST: readonly string[] = ['runtime/http/process'];

/** Composition roots: they assemble the layers of their half, so they may import all of it. */
const ROOTS: Readonly<Record<string, (layer: string) => boolean>> = {
  ...rootsOf(
    isOfRuntime,
    'runtime/',
    'index.ts entrances application.ts application-definition.ts databases.ts serve.ts json-action.ts operations.ts',
  ),
  ...rootsOf(
    isOfGenerator,
    'generator/',
    'generate.ts migrations.ts openapi.ts read-inputs.ts read-schema.ts templates.ts watch.ts index.ts',
  ),
};

/** Packages that only these layers may import, except in tests. */
const EXCLUSIVE: Arrows = arrowsOf(
  '',
  `
  runtime/tracing.ts -> @opentelemetry/api
  runtime/observability -> prom-client pino
  generator/read -> ts-morph @ts-morph/common
  generator/emit -> handlebars
  cli -> commander diff
  runtime/config -> yaml
  runtime/http -> fastify ajv lossless-json
  runtime/consumer -> ajv
  runtime/access -> jose
  runtime/domain -> decimal.js uuid
  runtime/cron.ts -> croner
  runtime/postgres -> pg
  runtime/pglite -> @electric-sql/pglite
  runtime/relay -> @nats-io/jetstream @nats-io/transport-node @platformatic/kafka
`,
);

/** Maximum lines per file. */
const MAXIMUM_LINES = 400;
/** A list with one class per code, meant to be read in one place. */
const CATALOGUE = 'runtime/errors.ts';

const modules = [...readModules('runtime'), ...readModules('generator'), ...readModules('cli')];

describe('the directions of the architecture', () => {
  test('cover every layer', () => {
    const layers = new Set(modules.map(({ path }) => layerOf(path)));
    expect([...layers].filter((layer) => ALLOWED[layer] === undefined && ROOTS[layer] === undefined)).toEqual(
      [],
    );
  });

  test('have no way back', () => {
    expect(cyclesOf(new Map(Object.entries(ALLOWED)))).toEqual([]);
  });

  test('hold for every import', () => {
    expect(problems(({ path }, { file }) => file !== undefined && !mayImport(path, file))).toEqual([]);
  });

  test('hold for every import between the folders of a layer', () => {
    const folderOf = (path: string): string => path.split('/').slice(0, 3).join('/');
    const isForbidden = (from: string, to: string): boolean =>
      from !== to &&
      layerOf(from) === layerOf(to) &&
      (ALLOWED_INSIDE[from]?.includes(to) === false || OUTERMOST.includes(to));
    expect(
      problems(({ path }, { file }) => file !== undefined && isForbidden(folderOf(path), folderOf(file))),
    ).toEqual([]);
  });

  test('lead to files that exist', () => {
    const paths = new Set(modules.map(({ path }) => path));
    expect(problems((_, { file }) => file !== undefined && !paths.has(file))).toEqual([]);
  });

  test('keep packages behind the layer that is there for them', () => {
    const strays = problems(({ path }, { specifier }) => {
      const name = packageOf(specifier);
      const isOwned = Object.values(EXCLUSIVE).some((packages) => packages.includes(name));
      return isOwned && EXCLUSIVE[layerOf(path)]?.includes(name) !== true;
    });
    expect(strays).toEqual([]);
  });

  test('lead inside by relative paths, never by the name of the package', () => {
    expect(problems((_, { specifier }) => packageOf(specifier) === 'fw-actions')).toEqual([]);
  });
});

describe('import cycles', () => {
  test('do not exist among modules as they are loaded', () => {
    expect(cyclesOf(edgesWhere(({ typeOnly, deferred }) => !typeOnly && !deferred))).toEqual([]);
  });

  test('of types do not exist, but for an action and the plan that it schedules actions on', () => {
    const cycles = cyclesOf(edgesWhere(() => true)).map((files) => [...files].sort());
    expect(cycles).toEqual([
      ['runtime/action/action-plan.ts', 'runtime/action/action.ts', 'runtime/action/planned-schedule.ts'],
    ]);
  });
});

/** The lock of a folder names its owning process. */
const OF_PROCESS = /^generator\/write\/folder-lock\.ts:\d+ process\.(pid|kill)$/;

/**
 * Files with their own clock: the source of time itself, the test kit's clocks, the times in ids, `systemClock`, and the
 * client, which runs in browsers.
 */
const OWN_TIME = /^runtime\/(client\/|concurrency\/time\.ts|testing\/|domain\/(id-source|clock)\.ts)/;

describe('every module', () => {
  test('of the runtime takes time and timers from concurrency/', () => {
    const watched = modules.filter(({ path }) => path.startsWith('runtime/') && !OWN_TIME.test(path));
    expect(nodesWhere(watched, isOwnTime)).toEqual([]);
    expect(
      problems(
        ({ path }, { specifier }) =>
          !OWN_TIME.test(path) && isTimeModule(specifier) && path.startsWith('runtime/'),
      ),
    ).toEqual([]);
  });

  test('of the runtime leaves asynchronous contexts to known scopes and to `outside`', () => {
    const uses = modules.filter(
      ({ path, imports }) =>
        path.startsWith('runtime/') &&
        imports.some(({ specifier }) => /^(node:)?async_hooks$/.test(specifier)),
    );
    expect(uses.map(({ path }) => path)).toEqual([
      'runtime/action/perform-scope.ts',
      'runtime/concurrency/outside.ts',
      'runtime/testing/recorded-calls.ts',
    ]);
  });

  test('of the runtime reads the message of a thrown value with `messageOf`', () => {
    const inlined = /(\w+) instanceof Error \? \1\.message : String\(\1\)/;
    const paths = modules.filter(({ syntax }) => inlined.test(syntax.text)).map(({ path }) => path);
    expect(paths.filter((path) => path.startsWith('runtime/'))).toEqual(['runtime/errors.ts']);
  });

  test('of the generator leaves the process to the command line, but for its pid and its end', () => {
    const generator = modules.filter(({ path }) => path.startsWith('generator/'));
    const uses = nodesWhere(generator, isMemberOfProcess);
    expect(uses.filter((use) => !OF_PROCESS.test(use))).toEqual([]);
  });

  test('does without `any`', () => {
    expect(nodesWhere(modules, ({ kind }) => kind === ts.SyntaxKind.AnyKeyword)).toEqual([]);
  });

  test('does without non-null assertions', () => {
    expect(nodesWhere(modules, ts.isNonNullExpression)).toEqual([]);
  });

  test('does without switching the compiler off', () => {
    const silenced = modules.filter(({ syntax }) => /@ts-(ignore|nocheck|expect-error)/.test(syntax.text));
    expect(silenced.map(({ path }) => path)).toEqual([]);
  });

  test('lists no columns of tables that plans insert into: their description does', () => {
    const { ACTIONS, EVENTS, KEYS, SCHEDULES, JOURNAL } = eventlog;
    const tables = [ACTIONS, EVENTS, KEYS, SCHEDULES, JOURNAL].map(({ name }) => name).join('|');
    const list = new RegExp(`insert\\s+into\\s+(${tables})\\s*(as\\s+\\w+\\s*)?\\(\\s*\\w`, 'i');
    expect(modules.filter(({ syntax }) => list.test(syntax.text)).map(({ path }) => path)).toEqual([]);
  });

  test(`has fewer than ${MAXIMUM_LINES} lines`, () => {
    const long = modules.filter(({ path, lines }) => lines >= MAXIMUM_LINES && path !== CATALOGUE);
    expect(long.map(({ path, lines }) => `${path}: ${lines}`)).toEqual([]);
  });

  test('is named in kebab case', () => {
    const name = /^[a-z0-9]+(-[a-z0-9]+)*\.ts$/;
    expect(
      modules.map(({ path }) => path).filter((path) => !name.test(path.split('/').at(-1) ?? '')),
    ).toEqual([]);
  });
});

/** Written as users write: with imports of the public package only. */
const EXAMPLES: readonly string[] = ['examples/wallet', 'examples/booking'];
const PUBLIC = /^fw-actions(\/(client|codegen|http|operate|relay|testing))?$/;

describe.each(EXAMPLES)('%s', (example) => {
  const isOwn = (file: string | undefined): boolean => file?.startsWith(`${example}/`) === true;

  test('has emitted code that imports the codegen and client entries and sources of the application only', () => {
    const emitted = readModules(`${example}/generated`);
    const strays = emitted.flatMap((module) =>
      module.imports
        .filter(({ specifier, file }) => !/^fw-actions[/](client|codegen)$/.test(specifier) && !isOwn(file))
        .map((stray) => described(module, stray)),
    );
    expect(emitted.length).toBeGreaterThan(0);
    expect(strays).toEqual([]);
  });

  test('imports the public package and nothing else of this repository', () => {
    const strays = readModules(example).flatMap((module) =>
      module.imports
        .filter(
          ({ specifier, file }) => !isOwn(file) && !PUBLIC.test(specifier) && !specifier.startsWith('node:'),
        )
        .map((stray) => described(module, stray)),
    );
    expect(strays).toEqual([]);
  });
});

/** @param text one `importer -> imported imported` per line, each name without the prefix */
function arrowsOf(prefix: string, text: string): Arrows {
  const arrows: Record<string, readonly string[]> = {};
  for (const line of text.trim().split('\n')) {
    const [from = '', ...to] = line.trim().split(/ (?:-> ?)?/);
    const targets = to.filter((name) => name !== '').map((name) => prefix + name);
    arrows[prefix + from] = [...(arrows[prefix + from] ?? []), ...targets];
  }
  return arrows;
}

function rootsOf<T>(value: T, prefix: string, names: string): Readonly<Record<string, T>> {
  return Object.fromEntries(names.split(' ').map((name) => [prefix + name, value]));
}

function isMemberOfProcess(node: ts.Node): boolean {
  const isMember = ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node);
  return isMember && node.expression.getText() === 'process';
}

function isOfRuntime(layer: string): boolean {
  return layer.startsWith('runtime/');
}

function isOfGenerator(layer: string): boolean {
  return layer.startsWith('generator/') || layer === 'runtime/config' || layer === 'runtime/openapi';
}

/** `runtime/http/docs/page.ts` -> `runtime/http`; `runtime/errors.ts` is its own layer; so is `cli`. */
function layerOf(path: string): string {
  if (path.startsWith('cli/')) return 'cli';
  return path.split('/').slice(0, 2).join('/');
}

/** `ajv/dist/2020.js` -> `ajv` */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function mayImport(path: string, file: string): boolean {
  const [from, to] = [layerOf(path), layerOf(file)];
  if (from === to) return true;
  return ROOTS[from]?.(to) ?? ALLOWED[from]?.includes(to) === true;
}

function problems(isProblem: (module: SourceModule, found: Import) => boolean): readonly string[] {
  return modules.flatMap((module) =>
    module.imports.filter((found) => isProblem(module, found)).map((found) => described(module, found)),
  );
}

function described({ path }: SourceModule, { specifier, line }: Import): string {
  return `${path}:${line} imports ${specifier}`;
}

function edgesWhere(counts: (found: Import) => boolean): ReadonlyMap<string, readonly string[]> {
  return new Map(
    modules.map(({ path, imports }) => [path, imports.filter(counts).flatMap(({ file }) => file ?? [])]),
  );
}

function nodesWhere(
  searched: readonly SourceModule[],
  matches: (node: ts.Node) => boolean,
): readonly string[] {
  return searched.flatMap(({ path, syntax }) => {
    const places: string[] = [];
    walk(syntax, (node) => {
      if (matches(node)) places.push(`${path}:${lineOf(node)} ${node.getText(syntax).slice(0, 60)}`);
    });
    return places;
  });
}
