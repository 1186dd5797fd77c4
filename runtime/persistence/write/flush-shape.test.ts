import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { allColumns, columnsOfFields } from '../../domain/column-set.js';
import type { ModelDescriptor } from '../../domain/descriptor.js';
import { accountModel } from '../../domain/test-support/account.js';
import { noteModel } from '../../domain/test-support/note.js';
import { RowCodec } from '../codec/row-codec.js';
import { TableUpdates, type UpdateColumns } from '../codec/update-columns.js';
import { type FlushShape, flushText, hasGuards, shapeKey } from './flush-shape.js';

const account = accountModel as unknown as ModelDescriptor;
const note = noteModel as unknown as ModelDescriptor;

/** What rows of a model set that all set the same fields, or each set one of them. */
function updatesOf(model: ModelDescriptor, fields: readonly string[], mixed = false): UpdateColumns {
  const sets = mixed
    ? fields.map((field) => columnsOfFields(model, [field]))
    : [columnsOfFields(model, fields)];
  return new TableUpdates(RowCodec.of(model)).of(sets);
}

const everything = (model: ModelDescriptor): UpdateColumns =>
  new TableUpdates(RowCodec.of(model)).of([allColumns(model)]);

const NOTHING: FlushShape = {
  tables: [],
  events: false,
  keys: false,
  schedules: false,
  cancellations: false,
  journal: false,
  folded: false,
  oneGuard: false,
  skipLocked: false,
};

const touched = (model: ModelDescriptor) =>
  fc
    .record({
      updates: fc.option(
        fc
          .tuple(fc.subarray(model.columns.map(({ field }) => field)), fc.boolean())
          .map(([fields, mixed]) => updatesOf(model, fields, mixed && fields.length > 1)),
        { nil: undefined },
      ),
      adds: fc.boolean(),
      expects: fc.boolean(),
      conflicts: fc.option(fc.constantFrom('', '(nickname)'), { nil: undefined }),
      proves: fc.option(fc.record({ hasTriggers: fc.boolean() }), { nil: undefined }),
    })
    .map(({ conflicts, ...table }) => (table.adds ? { ...table, conflicts } : table))
    .filter(({ updates, adds, expects }) => updates !== undefined || adds || expects);

const shapes: fc.Arbitrary<FlushShape> = fc
  .tuple(
    fc.option(touched(account)),
    fc.option(touched(note)),
    fc.record({
      events: fc.boolean(),
      keys: fc.boolean(),
      schedules: fc.boolean(),
      cancellations: fc.boolean(),
      journal: fc.boolean(),
      folded: fc.boolean(),
      oneGuard: fc.boolean(),
      skipLocked: fc.boolean(),
    }),
  )
  .map(([accounts, notes, flags]) => ({
    ...flags,
    tables: [
      ...(accounts === null ? [] : [{ model: account, ...accounts }]),
      ...(notes === null ? [] : [{ model: note, ...notes }]),
    ],
  }));

describe('the text of a flush', () => {
  test('has one key per text: what is prepared under a name is never another statement', () => {
    const texts = new Map<string, string>();
    fc.assert(
      fc.property(shapes, (shape) => {
        const [key, text] = [shapeKey(shape), flushText(shape)];
        expect(texts.get(key) ?? text).toBe(text);
        texts.set(key, text);
      }),
      { numRuns: 1_000 },
    );
    expect(new Set(texts.values()).size).toBeGreaterThan(100);
  });

  test('numbers its parameters without gaps', () => {
    fc.assert(
      fc.property(shapes, (shape) => {
        const numbers = new Set(
          [...flushText(shape).matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)),
        );
        expect([...numbers].sort((a, b) => a - b)).toEqual(Array.from(numbers, (_, index) => index + 1));
      }),
    );
  });

  test('writes nothing of a group whose guards do not hold', () => {
    fc.assert(
      fc.property(shapes.filter(hasGuards), (shape) => {
        const writes = flushText(shape)
          .split(',\n')
          .filter((part) => /^(act|u\d|i\d|ev|k|sc|x|j) AS/.test(part));
        expect(writes.length).toBeGreaterThan(0);
        for (const part of writes) {
          // Which groups are applied may depend on what is inserted here: on the rows of groups that are held.
          expect(part).toMatch(
            part.includes('ON CONFLICT') ? /FROM n\d/ : /IN \(SELECT grp FROM ok\)\) = true/,
          );
        }
      }),
    );
  });

  test('locks rows in the order of their ids, and skips locked ones only if asked to', () => {
    const tables = [{ model: account, updates: everything(account), adds: false, expects: true }];
    const waiting = flushText({ ...NOTHING, tables });
    expect(waiting).toContain('ORDER BY t.id FOR NO KEY UPDATE OF t)');
    expect(flushText({ ...NOTHING, tables, skipLocked: true })).toContain(
      'ORDER BY t.id FOR NO KEY UPDATE OF t SKIP LOCKED)',
    );
  });

  test('guards nothing if it only adds', () => {
    const adds = { ...NOTHING, tables: [{ model: account, updates: undefined, adds: true, expects: false }] };
    expect(hasGuards(adds)).toBe(false);
    expect(flushText(adds)).not.toContain('FOR NO KEY UPDATE');
    expect(
      hasGuards({ ...NOTHING, tables: [{ model: note, updates: undefined, adds: false, expects: true }] }),
    ).toBe(true);
  });
});

test('models of one name that have tables of their own do not share a text', () => {
  const table = { updates: everything(account), adds: false, expects: false };
  const keys = [account, { ...account, table: 'other_accounts' }].map((model) =>
    shapeKey({ ...NOTHING, tables: [{ ...table, model }] }),
  );
  expect(new Set(keys).size).toBe(2);
});
