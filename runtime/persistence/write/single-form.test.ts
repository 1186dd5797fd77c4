import { expect, test } from 'vitest';
import type { StagedItem } from '../../action/action-plan.js';
import type { Entity } from '../../domain/entity.js';
import { heldKeys } from '../../domain/natural-key.js';
import { type Guest, guestModel, newGuest } from '../../execution/test-support/guests.js';
import { planOf } from '../test-support/plans.js';
import { foldGroup } from './folded-group.js';
import { asSingle } from './single-form.js';

const descriptor = guestModel as unknown as StagedItem['descriptor'];

function add(guest: Entity): StagedItem {
  return { kind: 'add', descriptor, model: guest, events: [] };
}

function update(before: Guest, after: Guest): StagedItem {
  const heldBefore = heldKeys(before);
  return { kind: 'update', descriptor, model: after, expectedVersion: 1, heldBefore, events: [] };
}

test('a single plan has the form without arrays, unless a key may go from row to row of one table', () => {
  const ann = newGuest('ann@hotel');
  const renaming = update(ann, ann.renamed('ann@home'));
  const isSingle = (...items: readonly StagedItem[]): boolean =>
    asSingle(foldGroup([{ ...planOf(), items }])) !== undefined;
  expect(isSingle(renaming)).toBe(true);
  expect(isSingle(renaming, ...planOf('+a').items)).toBe(true);
  expect(isSingle(renaming, add(newGuest('ann@hotel')))).toBe(false);
});
