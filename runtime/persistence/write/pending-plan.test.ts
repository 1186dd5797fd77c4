import { describe, expect, test } from 'vitest';
import { allApplied, PendingPlan } from './pending-plan.js';

function dependencies(count: number): readonly PendingPlan[] {
  return Array.from({ length: count }, () => new PendingPlan());
}

describe('a pending plan', () => {
  test('is pending until it is settled, and then stays as it is', () => {
    const pending = new PendingPlan();
    expect(pending.state).toBe('pending');
    pending.settle(false);
    pending.settle(true);
    expect(pending.state).toBe('failed');
  });

  test('notifies every listener once and in order, and later listeners at once', () => {
    const pending = new PendingPlan();
    const calls: string[] = [];
    pending.onSettled(() => calls.push('first'));
    pending.onSettled(() => calls.push(`second: ${pending.state}`));
    pending.settle(true);
    pending.settle(true);
    pending.onSettled(() => calls.push('late'));
    expect(calls).toEqual(['first', 'second: applied', 'late']);
  });
});

describe('waiting for dependencies', () => {
  test('ends when all are settled', async () => {
    const [first, second] = dependencies(2);
    let result: boolean | undefined;
    const waiting = allApplied([first, second].filter((pending) => pending !== undefined)).then((applied) => {
      result = applied;
    });
    second?.settle(true);
    await Promise.resolve();
    expect(result).toBeUndefined();
    first?.settle(true);
    await waiting;
    expect(result).toBe(true);
  });

  test('says if one of them failed', async () => {
    const [first, second] = dependencies(2);
    first?.settle(false);
    second?.settle(true);
    expect(await allApplied([first, second].filter((pending) => pending !== undefined))).toBe(false);
    expect(await allApplied([])).toBe(true);
  });
});
