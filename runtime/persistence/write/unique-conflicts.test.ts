import { expect, test } from 'vitest';
import type { StagedItem } from '../../action/action-plan.js';
import type { Entity } from '../../domain/entity.js';
import { heldKeys } from '../../domain/natural-key.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { type Guest, guestModel, newGuest } from '../../execution/test-support/guests.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { planOf } from '../test-support/plans.js';
import { foldGroup } from './folded-group.js';
import type { PlanWrite } from './plan-write.js';
import { asSingle } from './single-form.js';
import { UniqueConflicts } from './unique-conflicts.js';

const descriptor = guestModel as unknown as StagedItem['descriptor'];

function add(guest: Entity): StagedItem {
  return { kind: 'add', descriptor, model: guest, events: [] };
}

function update(before: Guest, after: Guest): StagedItem {
  const heldBefore = heldKeys(before);
  return { kind: 'update', descriptor, model: after, expectedVersion: 1, heldBefore, events: [] };
}

function planWith(...items: readonly StagedItem[]): PlanWrite {
  return { ...planOf(), items };
}

const ann = newGuest('ann@hotel');
const staying = update(ann, ann.stayed());
const renaming = update(ann, ann.renamed('ann@home'));
const leaving = update(ann, ann.gone());

/** The conflicts of a shard on which the address of a guest was taken. */
async function contested(): Promise<UniqueConflicts> {
  const database = {
    shard: ShardIdentifier.of(0, 0),
    query: async () => ({ rows: [[true, null, ['email']]], rowCount: 1 }),
  } as unknown as ShardDatabase;
  const conflicts = new UniqueConflicts(database);
  const violation = new DriverFailure('taken', {
    ...{ phase: 'answered', sqlState: '23505', schema: 'public' },
    ...{ table: 'guests', constraint: 'guests_email_key' },
  });
  const groups = [[planWith(add(newGuest('a@hotel')))], [planWith(add(newGuest('b@hotel')))]];
  expect(await conflicts.learn(groups, violation)).toBe(true);
  return conflicts;
}

test('inserts are plain beside an update that gives a key up, and only beside such a one', async () => {
  const conflicts = await contested();
  const targets = (item: StagedItem): readonly string[] | undefined => {
    const groups = [[planWith(add(newGuest('a@hotel')))], [planWith(item, add(newGuest('b@hotel')))]];
    const found = conflicts.targetsOf(groups);
    return found && [...found.keys()];
  };
  expect(targets(staying)).toEqual(['guests']);
  expect(targets(renaming)).toBeUndefined();
  expect(targets(leaving)).toBeUndefined();
});

test('a single plan has the form without arrays, unless a key may go from row to row of one table', () => {
  const account = planOf('+a').items;
  const isSingle = (...items: readonly StagedItem[]): boolean =>
    asSingle(foldGroup([planWith(...items)])) !== undefined;
  expect(isSingle(renaming)).toBe(true);
  expect(isSingle(renaming, ...account)).toBe(true);
  expect(isSingle(renaming, add(newGuest('ann@hotel')))).toBe(false);
});
