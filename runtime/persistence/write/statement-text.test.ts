import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StagedItem } from '../../action/action-plan.js';
import { columnsOfFields } from '../../domain/column-set.js';
import { Decimal } from '../../domain/decimal.js';
import type { Entity, ModelDescriptor } from '../../domain/entity.js';
import { heldKeys } from '../../domain/natural-key.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { AccountCredited, accountModel } from '../../domain/test-support/account.js';
import { type Guest, guestModel, newGuest } from '../../execution/test-support/guests.js';
import type { Statement } from '../../sharding/shard-database.js';
import { EventCatalog } from '../codec/event-catalog.js';
import type { FlushRequest, WriteGroup } from '../shard-store.js';
import { idOf, planOf } from '../test-support/plans.js';
import { flushStatement } from './flush-statement.js';
import type { PlanWrite } from './plan-write.js';

const HERE = ShardIdentifier.of(0, 0);
const accounts = accountModel as unknown as ModelDescriptor;
/** One name, another table. */
const others: ModelDescriptor = { ...accounts, table: 'others' };
const guests = guestModel as unknown as ModelDescriptor;
const catalog = new EventCatalog([
  { name: 'AccountCredited', model: 'Account', eventClass: () => AccountCredited, fields: [] },
]);
const ORIGIN = { shard: HERE, namespace: 'test', events: catalog };

const CLAIM = { principal: 'p', operation: 'o', key: 'k', fingerprint: 'f', target: HERE, result: undefined };
const EXPIRES = '2030-01-01T00:00:00.000Z';
const SCHEDULE = { dueDate: EXPIRES, actionName: 'Later', params: '{}', paramsVersion: 1 };

/** A letter per row, so that no two groups touch one. */
const kinds = fc.record({
  changes: fc.subarray(['1>2', '+', '1?', '1>2>3'], { maxLength: 3 }),
  table: fc.constantFrom(accounts, others),
  fields: fc.subarray(['balance', 'closedBy', 'state']),
  event: fc.boolean(),
  key: fc.boolean(),
  schedule: fc.boolean(),
  cancels: fc.boolean(),
  journal: fc.boolean(),
  trace: fc.boolean(),
  claims: fc.boolean(),
  renames: fc.constantFrom(0, 0, 0, 1, 2),
});

type Kind = typeof kinds extends fc.Arbitrary<infer K> ? K : never;

function groupOf(kind: Kind, number: number): WriteGroup {
  const rows = kind.changes.map((change, index) => ({
    change,
    row: String.fromCharCode(97 + 4 * number + index),
  }));
  const first = rows.map(({ change, row }) => (change === '+' ? `+${row}` : row + change.slice(0, 3)));
  const second = rows.filter(({ change }) => change === '1>2>3').map(({ row }) => `${row}2>3`);
  const plans = [planWith(kind, first)];
  if (second.length > 0) plans.push(planWith({ ...kind, key: false, journal: false, renames: 0 }, second));
  return plans;
}

function planWith(kind: Kind, changes: readonly string[]): PlanWrite {
  const plan = planOf(...changes);
  const id = plan.action.id;
  const items = plan.items.map((item): StagedItem => {
    const placed = { ...item, descriptor: kind.table };
    if (placed.kind === 'expect') return placed;
    const events = kind.event ? [new AccountCredited(idOf('a'), new Decimal(1))] : [];
    return placed.kind === 'add'
      ? { ...placed, events }
      : { ...placed, events, changed: columnsOfFields(kind.table, kind.fields) };
  });
  return {
    ...plan,
    action: { ...plan.action, claims: kind.claims ? '{}' : undefined },
    traceContext: kind.trace ? '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' : undefined,
    items: [...items, ...renaming(kind.renames)],
    key: kind.key ? { ...CLAIM, keepMs: 60_000 } : undefined,
    schedules: kind.schedule ? [{ ...SCHEDULE, id }] : [],
    cancelledSchedules: kind.cancels ? [id] : [],
    journal: kind.journal ? { parts: '[]', holdMs: 5 } : undefined,
  };
}

/** Guests of whom each takes the address of the next; a new one takes that of the first. */
function renaming(count: number): readonly StagedItem[] {
  if (count === 0) return [];
  const old = Array.from({ length: count }, (_, index) => newGuest(`${index}@hotel`));
  return [
    ...old.map((guest, index) => update(guest, guest.renamed(`${index + 1}@hotel`))),
    add(newGuest('0@hotel')),
  ];
}

const flushes = fc.record({
  kinds: fc.array(kinds, { minLength: 1, maxLength: 3 }),
  locked: fc.constantFrom('wait' as const, 'skip' as const),
});

const FIELDS = [
  'changes',
  'fields',
  'event',
  'key',
  'schedule',
  'cancels',
  'trace',
  'claims',
  'renames',
] as const;

type Flush = typeof flushes extends fc.Arbitrary<infer F> ? F : never;

function requestOf({ kinds, locked }: Flush): FlushRequest {
  return { groups: kinds.map(groupOf), locked };
}

function make(flush: Flush): Statement {
  return flushStatement(requestOf(flush), ORIGIN);
}

/** The same changes of tables that the process has not seen. */
function withOtherTables(groups: readonly WriteGroup[]): readonly WriteGroup[] {
  const unknown = new Map([accounts, others, guests].map((model) => [model, { ...model }]));
  return groups.map((group) =>
    group.map((plan) => {
      const items = plan.items.map((item) => ({
        ...item,
        descriptor: unknown.get(item.descriptor) ?? item.descriptor,
      }));
      return { ...plan, items };
    }),
  );
}

/** The statement of these plans, of which each changes these rows. */
function statementOf(...plans: readonly (readonly StagedItem[])[]): Statement {
  const groups = plans.map((items) => [{ ...planOf(), items }]);
  return flushStatement({ groups, locked: 'skip' }, ORIGIN);
}

function add(guest: Entity): StagedItem {
  return { kind: 'add', descriptor: guests, model: guest, events: [] };
}

function update(before: Guest, after: Guest): StagedItem {
  const heldBefore = heldKeys(before);
  return { kind: 'update', descriptor: guests, model: after, expectedVersion: 1, heldBefore, events: [] };
}

test('rows are inserted in the order of their keys, in whichever order they were staged', () => {
  const inserted = (...emails: readonly string[]): readonly string[] => {
    const { values } = statementOf(...emails.map((email) => [add(newGuest(email))]));
    return values
      .map((value) => String(value).replaceAll('"', ''))
      .filter((value) => value.includes('@hotel'));
  };
  expect(inserted('b@hotel', 'a@hotel', 'c@hotel')).toEqual(['{a@hotel,b@hotel,c@hotel}']);
  expect(inserted('c@hotel', 'b@hotel', 'a@hotel')).toEqual(['{a@hotel,b@hotel,c@hotel}']);
});

test('texts of one length are different statements', () => {
  const accounts = planOf('+a').items;
  const texts = ['alike', 'aline'].map((table) => {
    return statementOf(accounts.map((item) => ({ ...item, descriptor: { ...item.descriptor, table } }))).text;
  });
  expect(texts[0]).toContain('"alike"');
  expect(texts[1]).toBe(texts[0]?.replaceAll('"alike"', '"aline"'));
});

test('a single plan has the form without arrays, and its insert follows the update that frees the key', () => {
  const ann = newGuest('ann@hotel');
  const renaming = update(ann, ann.renamed('ann@home'));
  const textOf = (...items: readonly StagedItem[]): string => statementOf(items).text;
  const [unrelated, following] = ['bob@hotel', 'ann@hotel'].map((email) =>
    textOf(renaming, add(newGuest(email))),
  );
  for (const text of [textOf(renaming), textOf(renaming, ...planOf('+a').items), unrelated, following])
    expect(text).not.toContain('unnest');
  const isDone = '(SELECT count(*) FROM "fw.u0s0") >= 0';
  expect(unrelated).not.toContain(isDone);
  expect(following).toMatch(/"fw.u0s0" AS \(UPDATE .* RETURNING 1\),\n"fw.i0" AS \(INSERT /);
  expect(following?.split('"fw.i0"')[1]).toContain(isDone);
});

describe('the text of a flush', () => {
  // The first two come first, because the process keeps a limited number of texts.
  test('tells parameters apart that have one name and are left out', () => {
    const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const descriptor = { ...accounts };
    const requestWith = (ofEvent: string | undefined, ofSchedule: string | undefined): FlushRequest => {
      const events = [new AccountCredited(idOf('a'), new Decimal(1))];
      const [changed, scheduling] = [planOf('a1>2'), planOf('b1>2')];
      const items = changed.items.map((item) => ({ ...item, descriptor, events }) as StagedItem);
      const schedules = [{ ...SCHEDULE, id: scheduling.action.id, principal: 'fw:system:billing' }];
      return {
        groups: [
          [{ ...changed, items, traceContext: ofEvent }],
          [{ ...scheduling, items: [], schedules, traceContext: ofSchedule }],
        ],
        locked: 'skip',
      };
    };
    const ofEvent = flushStatement(requestWith(trace, undefined), ORIGIN);
    const ofSchedule = flushStatement(requestWith(undefined, trace), ORIGIN);
    expect(ofSchedule.text).not.toBe(ofEvent.text);
  });

  test('that is known is what would be written for tables that are not known yet', () => {
    fc.assert(
      fc.property(flushes, kinds, fc.constantFrom(...FIELDS), fc.nat(2), (flush, other, field, at) => {
        const groups = flush.kinds.map((kind, index) => {
          return index === at % flush.kinds.length ? { ...kind, [field]: other[field] } : kind;
        });
        for (const each of [flush.kinds, groups]) {
          // Rows that set different columns share a text for all columns that the table has seen.
          const same = each.map((kind) => ({ ...kind, fields: each[0]?.fields ?? [] }));
          const request = requestOf({ ...flush, kinds: same });
          const unknown = { ...request, groups: withOtherTables(request.groups) };
          const [known, written] = [request, unknown].map((each) => flushStatement(each, ORIGIN).text);
          expect(known).toBe(written);
        }
      }),
      { numRuns: 200 },
    );
  });

  test('has one name: what is prepared under it is never another statement; there are at most 100', () => {
    const texts = new Map<string, string>();
    let unnamed = 0;
    fc.assert(
      fc.property(flushes, (flush) => {
        const { name, text } = make(flush);
        if (name === undefined) unnamed += 1;
        else expect(texts.get(name) ?? text).toBe(text);
        if (name !== undefined) texts.set(name, text);
      }),
      { numRuns: 1_000 },
    );
    expect([...texts.keys()].every((name) => Number(name.slice('fw_flush_'.length)) < 100)).toBe(true);
    expect(unnamed).toBeGreaterThan(0);
  });

  test('has a parameter for each value', () => {
    fc.assert(
      fc.property(flushes, (flush) => {
        const { text, values } = make(flush);
        const numbers = new Set([...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
        expect([...numbers].sort((a, b) => a - b)).toEqual(
          Array.from({ length: values.length }, (_, index) => index + 1),
        );
      }),
    );
  });

  test('writes nothing of a group that is left out', () => {
    fc.assert(
      fc.property(flushes, (flush) => {
        const { text } = make(flush);
        if (text.includes(`SELECT 'all' AS applied`)) return;
        const parts = text.split('\nSELECT ')[0]?.split(',\n') ?? [];
        const writes = parts.filter((part) =>
          /(INSERT INTO|UPDATE) .*/.test(part.split(' FOR NO KEY')[0] ?? ''),
        );
        expect(writes.length).toBeGreaterThan(0);
        for (const part of writes) {
          expect(part).toMatch(/IN \(SELECT grp FROM "fw.ok"\)\) = true|EXISTS \(SELECT FROM "fw.ok"\)/);
        }
      }),
    );
  });

  test('locks rows in the order of their ids, and skips locked ones only if asked to', () => {
    const groups = [[planOf('a1>2', 'b1?')]];
    const text = (locked: FlushRequest['locked']): string => flushStatement({ groups, locked }, ORIGIN).text;
    expect(text('wait')).toContain('ORDER BY t.id FOR NO KEY UPDATE OF t)');
    expect(text('skip')).toContain('ORDER BY t.id FOR NO KEY UPDATE OF t SKIP LOCKED)');
  });

  test('locks nothing if it only adds', () => {
    for (const groups of [[[planOf('+a')]], [[planOf('+a')], [planOf('+b')]]]) {
      const { text } = flushStatement({ groups, locked: 'skip' }, ORIGIN);
      expect(text).not.toContain('FOR NO KEY UPDATE');
      expect(text).toContain(`SELECT 'all' AS applied`);
    }
  });
});
