import { describe, expect, test } from 'vitest';
import { idOf, planOf } from '../test-support/plans.js';
import { BatchBuilder } from './batch-builder.js';
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
