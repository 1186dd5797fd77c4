import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { idOf, planOf } from '../test-support/plans.js';
import { BatchBuilder } from './batch-builder.js';
import type { PendingPlan } from './pending-plan.js';
import { QueuedPlan } from './queued-plan.js';

function entryOf(change: string, dependsOn: readonly QueuedPlan[] = []): QueuedPlan {
  const plan = planOf(...change.split(' '));
  const options = { timeoutMs: Number.POSITIVE_INFINITY, dependsOn: dependsOn.map(({ pending }) => pending) };
  return new QueuedPlan(plan, options, () => new Error('overdue'));
}

const textOf = (batch: BatchBuilder): readonly string[] =>
  batch.groups.map((group) => group.map(({ plan }) => plan.action.name).join(', '));

describe('a batch', () => {
  test('takes plans that touch different rows, each as a group of its own', () => {
    const batch = new BatchBuilder(new Set());
    for (const change of ['a1>2 b1>2', 'c1?', '+d']) expect(batch.tryAdd(entryOf(change))).toBe(true);
    expect(textOf(batch)).toEqual(['a1>2 b1>2', 'c1?', '+d']);
    expect(batch.size).toBe(3);
  });

  test.each([
    ['an update', 'a1>2', 'after an update', 'a1>2'],
    ['an update', 'a1>2', 'after an expectation', 'a1?'],
    ['an expectation', 'a1?', 'after an update', 'a1>2'],
    ['an expectation', 'a2?', 'after one of another version', 'a1?'],
    ['an addition', '+a', 'after an addition', '+a'],
  ])('leaves %s (%s) of one row waiting %s', (_, second, __, first) => {
    const batch = new BatchBuilder(new Set());
    expect(batch.tryAdd(entryOf(first))).toBe(true);
    expect(batch.tryAdd(entryOf(second))).toBe(false);
  });

  test('takes any number of expectations of one version', () => {
    const batch = new BatchBuilder(new Set());
    for (const row of ['b', 'c', 'd']) expect(batch.tryAdd(entryOf(`a1? ${row}1>2`))).toBe(true);
    expect(batch.groups).toHaveLength(3);
    expect(batch.tryAdd(entryOf('a1>2'))).toBe(false);
  });

  test('leaves plans waiting whose rows statements under way touch', () => {
    const batch = new BatchBuilder(new Set([`Account/${idOf('a').getValue()}`]));
    expect(batch.tryAdd(entryOf('a1>2'))).toBe(false);
    expect(batch.tryAdd(entryOf('a1? b1>2'))).toBe(false);
    expect(batch.tryAdd(entryOf('b1>2'))).toBe(true);
  });

  test('joins a plan to those it depends on, and with them to one another', () => {
    const batch = new BatchBuilder(new Set());
    const [a, b, c] = [entryOf('a1>2'), entryOf('b1>2'), entryOf('c1>2')];
    for (const entry of [a, b, c]) batch.tryAdd(entry);
    expect(batch.tryAdd(entryOf('a2>3 b2>3', [a, b]))).toBe(true);
    expect(textOf(batch)).toEqual(['a1>2, b1>2, a2>3 b2>3', 'c1>2']);
  });

  test('joins a plan to one whose state it has only read', () => {
    const batch = new BatchBuilder(new Set());
    const a = entryOf('a1>2');
    batch.tryAdd(a);
    expect(batch.tryAdd(entryOf('b1>2', [a]))).toBe(true);
    expect(textOf(batch)).toEqual(['a1>2, b1>2']);
  });

  test('changes a row again only from the very state that the plan before has left, and has been read', () => {
    const batch = new BatchBuilder(new Set());
    const [a, b] = [entryOf('a1>2'), entryOf('b1>2')];
    for (const entry of [a, b]) batch.tryAdd(entry);
    expect(batch.tryAdd(entryOf('a2>3'))).toBe(false);
    expect(batch.tryAdd(entryOf('a2>3', [b]))).toBe(false);
    expect(batch.tryAdd(entryOf('a1>2', [a]))).toBe(false);
    expect(batch.tryAdd(entryOf('a2>3', [a]))).toBe(true);
  });

  test('does not fold rows whose every state must be written', () => {
    const batch = new BatchBuilder(new Set());
    const first = entryOf('!a1>2');
    batch.tryAdd(first);
    expect(batch.tryAdd(entryOf('!a2>3', [first]))).toBe(false);
  });

  test('leaves a plan waiting that depends on one elsewhere, unless that is applied', () => {
    const batch = new BatchBuilder(new Set());
    const elsewhere = entryOf('a1>2');
    const entry = entryOf('b1>2', [elsewhere]);
    expect(batch.tryAdd(entry)).toBe(false);
    elsewhere.pending.settle(true);
    expect(batch.tryAdd(entry)).toBe(true);
    expect(textOf(batch)).toEqual(['b1>2']);
  });
});

/**
 * Plans over a few rows, in the order of sealing: each starts from what the plans before it have staged, or does not.
 */
const plans = fc.array(
  fc.record({
    changes: fc.uniqueArray(
      fc.record({ row: fc.constantFrom('a', 'b', 'c', 'd'), kind: fc.constantFrom('>', '?') }),
      {
        selector: ({ row }) => row,
        minLength: 1,
        maxLength: 3,
      },
    ),
    chained: fc.boolean(),
    strict: fc.boolean(),
  }),
  { maxLength: 24 },
);

type Drawn = typeof plans extends fc.Arbitrary<infer T> ? T : never;

/** The queue that executions would make of it. */
function queueOf(drawn: Drawn): readonly QueuedPlan[] {
  const latest = new Map<string, { readonly version: number; readonly entry: QueuedPlan }>();
  return drawn.map(({ changes, chained, strict }) => {
    const seen = changes.map(({ row }) => (chained ? latest.get(row) : undefined));
    const texts = changes.map(({ row, kind }, index) => {
      const from = seen[index]?.version ?? 1;
      return `${strict && kind === '>' ? '!' : ''}${row}${from}${kind}${kind === '>' ? from + 1 : ''}`;
    });
    const entry = entryOf(
      texts.join(' '),
      seen.flatMap((state) => (state === undefined ? [] : [state.entry])),
    );
    changes.forEach(({ row, kind }, index) => {
      const version = (seen[index]?.version ?? 1) + 1;
      if (kind === '>' && chained) latest.set(row, { version, entry });
    });
    return entry;
  });
}

describe('whatever waits in the queue, a batch', () => {
  test('never lets two groups touch one row, but to expect the same version', () => {
    fc.assert(
      fc.property(plans, (drawn) => {
        const batch = new BatchBuilder(new Set());
        for (const entry of queueOf(drawn)) batch.tryAdd(entry);
        const touched = new Map<string, { readonly group: number; readonly text: string }>();
        batch.groups.forEach((group, index) => {
          for (const { row, kind, from } of group.flatMap(({ touches }) => touches)) {
            const text = `${kind} ${from}`;
            const other = touched.get(row);
            if (other !== undefined && other.group !== index) {
              expect([other.text, text]).toEqual([`expect ${from}`, `expect ${from}`]);
            }
            touched.set(row, { group: index, text });
          }
        });
      }),
    );
  });

  test('holds every plan that it has taken exactly once', () => {
    fc.assert(
      fc.property(plans, (drawn) => {
        const batch = new BatchBuilder(new Set());
        const taken = queueOf(drawn).filter((entry) => batch.tryAdd(entry));
        const held = batch.groups.flat();
        expect(new Set(held)).toEqual(new Set(taken));
        expect(held).toHaveLength(taken.length);
        expect(batch.size).toBe(taken.length);
      }),
    );
  });

  test('holds what a plan depends on, before it and in its group', () => {
    fc.assert(
      fc.property(plans, (drawn) => {
        const batch = new BatchBuilder(new Set());
        for (const entry of queueOf(drawn)) batch.tryAdd(entry);
        for (const group of batch.groups) {
          const before = new Set<PendingPlan>();
          for (const { pending, dependsOn } of group) {
            for (const other of dependsOn) expect(before.has(other)).toBe(true);
            before.add(pending);
          }
        }
      }),
    );
  });

  test('changes each row of a group version by version', () => {
    fc.assert(
      fc.property(plans, (drawn) => {
        const batch = new BatchBuilder(new Set());
        for (const entry of queueOf(drawn)) batch.tryAdd(entry);
        for (const group of batch.groups) {
          const versions = new Map<string, number>();
          for (const { row, kind, from, to } of group.flatMap(({ touches }) => touches)) {
            if (kind === 'update') expect(from).toBe(versions.get(row) ?? from);
            versions.set(row, to);
          }
        }
      }),
    );
  });
});
