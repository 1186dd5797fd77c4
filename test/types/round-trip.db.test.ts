import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ActionClass, type JsonObject, type JsonValue, ShardedId, ShardIdentifier } from 'fw-actions';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Sample, SampleTakenEvent } from '../../generator/golden/types/input/sample.js';
import { testServer } from '../databases/vitest.js';
import { type Example, FORM_EXAMPLES } from './form-examples.js';
import { GoldenServer } from './golden-server.js';
import { typed } from './typed.js';

/** The runtime's sources are transformed again for a copy of a case, which takes long on a busy machine. */
const START_MS = 600_000;

type Fields = Readonly<Record<string, JsonValue>>;

const BASE: Fields = Object.fromEntries(
  Object.entries(FORM_EXAMPLES).map(([name, [first]]) => [name, first?.json ?? null]),
);
const ROWS = Object.entries(FORM_EXAMPLES).map(([name, examples]) => ({
  name,
  examples: examples as readonly Example<unknown>[],
}));

/** Field names of the golden case's model: members of builders, keywords of SQL and of JavaScript. */
const NAMES = [
  ...readFileSync(join(import.meta.dirname, '../../generator/golden/words/input/words.ts'), 'utf8').matchAll(
    /^ {2}readonly (\w+)!: string;$/gm,
  ),
].map(([, name = '']) => name);

/** Names of inherited properties, and names that must be quoted. */
const INHERITED: JsonObject = JSON.parse(
  `{ "id": "a", "put": "b", "build": "c", "withEvent": "d", "constructor": "e", "toString": "f", "valueOf": "g",
     "hasOwnProperty": "h", "then": "i", "select": "j", "class": "k", "two words": "l", "it's": "m", "1": "n" }`,
);

for (const adapter of ['pglite', 'postgresql'] as const) {
  describe(`A value of each type (${adapter})`, () => {
    const handled = new Map<string, SampleTakenEvent>();
    let server: GoldenServer;
    let read: ActionClass<{ readonly sampleId: ShardedId<Sample> }, Sample>;

    beforeAll(async () => {
      const inbox = { take: (event: SampleTakenEvent): unknown => handled.set(event.getModelId(), event) };
      server = await GoldenServer.start({
        name: 'types',
        adapter,
        address: testServer(),
        collaborators: { inbox },
      });
      ({ SampleReadAction: read } = await import(join(server.folder, 'actions.ts')));
    }, START_MS);
    afterAll(() => server?.close());

    test.each(ROWS)('$name is sent, stored, read and received back', async ({ name, examples }) => {
      for (const { json, value } of examples) {
        const id = newId();
        const forms = { ...BASE, [name]: json };
        const body = { ...forms, id: id.getValue() };
        expect(server.violations('SampleTakeRequest', body)).toEqual([]);
        for (const answer of [
          await server.call('POST', '/samples', body),
          await server.call('GET', `/samples/${id.getValue()}`),
        ]) {
          expect(typed(answer)).toEqual(typed({ status: 200, body: { id: id.getValue(), forms } }));
        }
        const stored = await server.application.executor.execute({ name: 'tester' }, read, { sampleId: id });
        expect(typed(fieldOf(stored, name))).toEqual(typed(value));
        await vi.waitFor(() => expect(handled.keys()).toContain(id.getValue()), 60_000);
        expect(typed(fieldOf(handled.get(id.getValue())?.forms, name))).toEqual(typed(value));
      }
    });

    test('a field that may be absent or null is null in every answer if it is absent', async () => {
      const id = newId();
      const { absent: _, ...sent } = BASE;
      const expected = typed({ status: 200, body: { id: id.getValue(), forms: { ...BASE, absent: null } } });
      expect(typed(await server.call('POST', '/samples', { ...sent, id: id.getValue() }))).toEqual(expected);
      expect(typed(await server.call('GET', `/samples/${id.getValue()}`))).toEqual(expected);
    });
  });
}

describe('Fields with reserved or inherited names', () => {
  let server: GoldenServer;

  beforeAll(async () => {
    server = await GoldenServer.start({ name: 'words', adapter: 'pglite', address: testServer() });
  }, START_MS);
  afterAll(() => server?.close());

  test.each([
    ['present', INHERITED],
    ['absent', {}],
  ])('are stored, read and sent, optional ones %s', async (_case, nested) => {
    expect(NAMES.length).toBeGreaterThan(100);
    const id = ShardedId.generate({ name: 'Words', prototype: {} }, ShardIdentifier.of(0, 0));
    const fields = Object.fromEntries(NAMES.map((name) => [name, `value of ${name}`]));
    const values = { ...fields, id: id.getValue(), nested };
    const expected = typed({ status: 200, body: { values } });
    // The same names as params.
    const { id: _, put: _2, build: _3, withEvent: _4, then: _5, select: _6, class: _7, ...params } = nested;
    expect(typed(await server.call('POST', '/words', { ...params, ...values }))).toEqual(expected);
    expect(typed(await server.call('GET', `/words/${id.getValue()}`))).toEqual(expected);
    const { items } = await server.application.eventHistory.of(id);
    expect(typed(items.map(({ payload }) => payload))).toEqual(typed([{ values }, {}]));
  });
});

function newId(): ShardedId<Sample> {
  const { name, prototype } = { name: 'Sample', prototype: {} as Sample };
  return ShardedId.generate({ name, prototype }, ShardIdentifier.of(0, 0));
}

function fieldOf(object: object | undefined, name: string): unknown {
  return object === undefined ? undefined : Reflect.get(object, name);
}
