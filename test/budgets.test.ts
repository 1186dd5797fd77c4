import { readFileSync } from 'node:fs';
import { ts } from 'ts-morph';
import { expect, test } from 'vitest';
import { readModules, walk } from './import-graph.js';

/**
 * Maximum product lines of each room, tests excluded. The house is to become smaller: a budget is lowered when a room
 * has shrunk, and raised only in a commit that says why.
 */
const LINES: Readonly<Record<string, number>> = {
  cli: 4_770,
  'generator/build': 50,
  'generator/check': 1_280,
  'generator/emit': 3_100,
  'generator/event-lock': 680,
  'generator/read': 5_460,
  'generator/schema': 1_290,
  'generator/write': 560,
  'runtime/access': 1_220,
  'runtime/action': 1_700,
  'runtime/client': 660,
  'runtime/codegen': 180,
  'runtime/entrances': 120,
  'runtime/collections': 160,
  'runtime/concurrency': 750,
  'runtime/config': 3_080,
  'runtime/consumer': 480,
  'runtime/doctor': 610,
  'runtime/domain': 3_130,
  'runtime/events': 6_500,
  'runtime/execution': 4_030,
  'runtime/http': 5_410,
  'runtime/locks': 450,
  'runtime/migration': 2_670,
  'runtime/observability': 810,
  'runtime/openapi': 870,
  'runtime/persistence': 5_520,
  'runtime/pglite': 1_200,
  'runtime/postgres': 1_110,
  'runtime/relay': 1_630,
  'runtime/retention': 1_100,
  'runtime/sagas': 1_850,
  'runtime/sharding': 3_840,
  'runtime/testing': 2_340,
};
/** Files directly in runtime/ and generator/. */
const LOOSE_LINES = { runtime: 2_040, generator: 650 };

/** Maximum names that applications can import from each entrance of the package. */
const NAMES: Readonly<Record<string, number>> = {
  index: 136,
  client: 31,
  codegen: 46,
  config: 19,
  consumer: 10,
  generator: 12,
  http: 34,
  operate: 87,
  relay: 18,
  testing: 26,
};

/** Classes with more members than this are to become several classes, or data. */
const MEMBERS = 20;
const CLASSES_ABOVE = 12;

const modules = ['cli', 'generator', 'runtime'].flatMap(readModules);

test.each(Object.entries(LINES))('%s has at most %i lines', (room, maximum) => {
  expect(linesOf((path) => path.startsWith(`${room}/`))).toBeLessThanOrEqual(maximum);
});

test.each(Object.entries(LOOSE_LINES))('the files directly in %s/ have at most %i lines', (room, maximum) => {
  expect(linesOf((path) => path.startsWith(`${room}/`) && path.split('/').length === 2)).toBeLessThanOrEqual(
    maximum,
  );
});

test('every room has a budget', () => {
  const rooms = modules.map(({ path }) => {
    const [top = '', room = ''] = path.split('/');
    return top === 'cli' ? top : `${top}/${room}`;
  });
  const unknown = rooms.filter((room) => !room.endsWith('.ts') && LINES[room] === undefined);
  expect([...new Set(unknown)]).toEqual([]);
});

test.each(Object.entries(NAMES))('the entrance %s has at most %i names', (entrance, maximum) => {
  const page = readFileSync(new URL(`public-types/${entrance}.txt`, import.meta.url), 'utf8');
  const names = new Set([...page.matchAll(/(?:^|\n\n)(\w+)\nexport/g)].map(([, name]) => name));
  expect(names.size).toBeGreaterThan(0);
  expect(names.size).toBeLessThanOrEqual(maximum);
});

test(`at most ${CLASSES_ABOVE} classes have more than ${MEMBERS} members`, () => {
  const large: string[] = [];
  for (const { path, syntax } of modules) {
    walk(syntax, (node) => {
      if (ts.isClassDeclaration(node) && node.members.length > MEMBERS)
        large.push(`${path} ${node.name?.text}`);
    });
  }
  expect(large.length, large.join('\n')).toBeLessThanOrEqual(CLASSES_ABOVE);
});

test('no module uses private members of Node, node-postgres or Fastify', () => {
  const isPrivate = /\b(?!this\b)\w+\??\._[a-z]\w*|\[['"]_[a-z]\w*['"]\]|listeners\(['"]data['"]\)/;
  expect(modules.filter(({ syntax }) => isPrivate.test(syntax.text)).map(({ path }) => path)).toEqual([]);
});

function linesOf(isIncluded: (path: string) => boolean): number {
  return modules.filter(({ path }) => isIncluded(path)).reduce((sum, { lines }) => sum + lines, 0);
}
