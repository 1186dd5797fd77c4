import { expect, test } from 'vitest';
import { ActionPlan } from '../../action/action-plan.js';
import { systemClock } from '../../domain/clock.js';
import { heldKeys } from '../../domain/natural-key.js';
import { type Guest, guestModel, newGuest } from '../test-support/guests.js';

/** Counts how often the keys of a model are read during `work`. */
async function looks(work: () => Promise<void>): Promise<number> {
  const { keys } = guestModel;
  let count = 0;
  Object.defineProperty(guestModel, 'keys', {
    configurable: true,
    get: () => {
      count += 1;
      return keys;
    },
  });
  try {
    await work();
  } finally {
    Object.defineProperty(guestModel, 'keys', { configurable: true, writable: true, value: keys });
  }
  return count;
}

/** The plan's own guests, found as a repository finds them in an empty database. */
function guestsOf(plan: ActionPlan): { findSameKey(guest: Guest): Promise<Guest | undefined> } {
  return {
    findSameKey: async (guest) => {
      const [name = ''] = heldKeys(guest);
      return plan.keyed?.holderOf(name) as Guest | undefined;
    },
  };
}

test('getOrAdd reads each staged model once', async () => {
  const count = 2_000;
  const plan = new ActionPlan(systemClock);
  const seen = await looks(async () => {
    for (let index = 0; index < count; index += 1) {
      await plan.getOrAdd(guestsOf(plan), newGuest(`guest-${index}@hotel`));
    }
  });
  expect(plan.items).toHaveLength(count);
  expect(seen).toBeLessThan(count * 10);
});

test('the future holder of a key is the first model that takes it, never one that only expects it', () => {
  const plan = new ActionPlan(systemClock);
  const [ann, bob, cleo] = [newGuest('ann@hotel'), newGuest('bob@hotel'), newGuest('ann@hotel')];
  const [key = ''] = heldKeys(ann);
  expect(plan.keyed?.holderOf(key)).toBeUndefined();
  plan.expect(ann);
  expect(plan.keyed?.holderOf(key)).toBeUndefined();
  const renamed = plan.update(bob.renamed('ann@hotel'));
  expect(plan.keyed?.holderOf(key)).toBe(renamed);
  plan.add(cleo);
  expect(plan.keyed?.holderOf(key)).toBe(renamed);
});
