import { expect, test } from 'vitest';
import type { StagedItem } from '../../action/action-plan.js';
import type { Entity } from '../../domain/entity.js';
import { heldKeys } from '../../domain/natural-key.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { type Guest, guestModel, newGuest } from '../../execution/test-support/guests.js';
import type { Statement } from '../../sharding/shard-database.js';
import { EventCatalog } from '../codec/event-catalog.js';
import { planOf } from '../test-support/plans.js';
import { flushStatement } from './flush-statement.js';

const ORIGIN = { shard: ShardIdentifier.of(0, 0), namespace: 'test', events: new EventCatalog([]) };

const descriptor = guestModel as unknown as StagedItem['descriptor'];

/** The statement of these plans, of which each changes these rows. */
function statementOf(...plans: readonly (readonly StagedItem[])[]): Statement {
  const groups = plans.map((items) => [{ ...planOf(), items }]);
  return flushStatement({ groups, locked: 'skip' }, ORIGIN);
}

function add(guest: Entity): StagedItem {
  return { kind: 'add', descriptor, model: guest, events: [] };
}

function update(before: Guest, after: Guest): StagedItem {
  const heldBefore = heldKeys(before);
  return { kind: 'update', descriptor, model: after, expectedVersion: 1, heldBefore, events: [] };
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

test('claims are bound if any plan of a merged statement has them', () => {
  const plans = [planOf('+a'), planOf('+b')];
  const claims = '{"role":"auditor"}';
  const valuesWith = (given: number): string => {
    const groups = plans.map((plan, index) => {
      return [{ ...plan, action: { ...plan.action, claims: index < given ? claims : undefined } }];
    });
    return JSON.stringify(flushStatement({ groups, locked: 'skip' }, ORIGIN).values);
  };
  expect(valuesWith(0)).not.toContain('auditor');
  expect(valuesWith(1)).toContain('auditor');
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
