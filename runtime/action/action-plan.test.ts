import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Clock } from '../domain/clock.js';
import { Decimal } from '../domain/decimal.js';
import { pendingEventsOf } from '../domain/entity.js';
import { type Account, AccountCredited, newAccount, OPENED_AT } from '../domain/test-support/account.js';
import { newNote } from '../domain/test-support/note.js';
import { PlanMisuseError } from '../errors.js';
import { ActionPlan } from './action-plan.js';

const NOW = new Date('2025-03-01T12:00:00.000Z');
const clock: Clock = { now: () => NOW };
const hundred = new Decimal(100);
const account = (): Account => newAccount(hundred).build();

describe('ActionPlan.add', () => {
  test('stages a new model with its events and returns it without them', () => {
    const plan = new ActionPlan(clock);
    const credited = account().credit(new Decimal(1));
    const stored = plan.add(credited);
    expect(stored).toEqual(credited);
    expect(stored.updatedDate).toEqual(OPENED_AT);
    expect(Object.isFrozen(stored)).toBe(true);
    expect(pendingEventsOf(stored)).toEqual([]);
    expect(plan.items).toEqual([
      expect.objectContaining({
        kind: 'add',
        model: stored,
        events: [new AccountCredited(credited.id, new Decimal(1))],
      }),
    ]);
  });

  test('refuses more models than fit into one statement', () => {
    const plan = new ActionPlan(clock);
    for (let model = 0; model < 10_000; model += 1) plan.add(account());
    expect(() => plan.add(account())).toThrow('A plan stages at most 10000 models: divide the work');
  });

  test('refuses a model that has been updated', () => {
    const updated = new ActionPlan(clock).update(account());
    expect(() => new ActionPlan(clock).add(updated)).toThrow(PlanMisuseError);
    expect(() => new ActionPlan(clock).add(updated)).toThrow(`Account ${updated.id} has version 2`);
  });
});

describe('ActionPlan.update', () => {
  test('returns a frozen copy at the next version, changed now, without pending events', () => {
    const plan = new ActionPlan(clock);
    const credited = account().credit(new Decimal(1));
    const stored = plan.update(credited);
    expect(stored).toMatchObject({ version: 2, updatedDate: NOW, createdDate: OPENED_AT });
    expect(stored.balance.equals(101)).toBe(true);
    expect(Object.isFrozen(stored)).toBe(true);
    expect(pendingEventsOf(stored)).toEqual([]);
    expect(plan.items).toMatchObject([{ kind: 'update', expectedVersion: 1 }]);
    expect(credited).toMatchObject({ version: 1, updatedDate: OPENED_AT });
    expect(pendingEventsOf(credited)).toHaveLength(1);
  });

  test('gives an entity the next version and no date', () => {
    const note = new ActionPlan(clock).update(newNote('hello'));
    expect(note).toMatchObject({ version: 2, text: 'hello' });
    expect('updatedDate' in note).toBe(false);
  });

  test('increments the version by one per plan', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), (updates) => {
        let model = account();
        for (let count = 0; count < updates; count += 1)
          model = new ActionPlan(clock).update(model.credit(hundred));
        expect(model.version).toBe(1 + updates);
        expect(pendingEventsOf(model)).toEqual([]);
      }),
    );
  });
});

describe('ActionPlan.expect', () => {
  test('stages a version check without a write', () => {
    const plan = new ActionPlan(clock);
    const model = account();
    plan.expect(model);
    expect(plan.items).toEqual([expect.objectContaining({ kind: 'expect', model, expectedVersion: 1 })]);
  });
});

describe('ActionPlan', () => {
  const stage = {
    add: (plan: ActionPlan, model: Account) => void plan.add(model),
    update: (plan: ActionPlan, model: Account) => void plan.update(model),
    expect: (plan: ActionPlan, model: Account) => plan.expect(model),
  };
  const ways = ['add', 'update', 'expect'] as const;
  const pairs = ways.flatMap((first) => ways.map((second) => [first, second] as const));

  test.each(pairs)('refuses %s and then %s of one id', (first, second) => {
    const plan = new ActionPlan(clock);
    const model = account();
    stage[first](plan, model);
    expect(() => stage[second](plan, model)).toThrow(PlanMisuseError);
    expect(() => stage[second](plan, model)).toThrow('is staged twice in one plan');
    expect(plan.items).toHaveLength(1);
  });

  test.each(ways)('refuses %s after perform has returned', (way) => {
    const plan = new ActionPlan(clock);
    plan.seal();
    expect(() => stage[way](plan, account())).toThrow('was staged after perform had returned');
  });

  test('finds what is staged by model and id', () => {
    const plan = new ActionPlan(clock);
    const model = account();
    expect(plan.staged('Account', model.id.getValue())).toBeUndefined();
    const stored = plan.update(model);
    expect(plan.staged('Account', model.id.getValue())?.model).toBe(stored);
    expect(plan.staged('Note', model.id.getValue())).toBeUndefined();
  });
});

test('a date keeps its time in the plan, although its owner changes it for the next one', () => {
  const plan = new ActionPlan(clock);
  const at = new Date(0);
  for (let day = 0; day < 2; day += 1) {
    plan.schedule(at, Object as never, {} as never);
    at.setUTCDate(at.getUTCDate() + 1);
  }
  expect(plan.schedules.map(({ dueDate }) => dueDate)).toEqual([new Date(0), new Date(86_400_000)]);
});

describe('ActionPlan.cancelSchedule', () => {
  test('drops a schedule of its own plan, whose id may be in capital letters', () => {
    const plan = new ActionPlan(clock);
    const { id } = plan.schedule({ afterMs: 1 }, Object as never, {} as never);
    plan.cancelSchedule(id.toUpperCase());
    expect([plan.schedules, plan.cancelledSchedules]).toEqual([[], []]);
  });

  test.each(['', 'soon', '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10'])('refuses %j: it names no shard', (id) => {
    expect(() => new ActionPlan(clock).cancelSchedule(id)).toThrow('is not the id of a scheduled action');
  });
});
