import { expect, test } from 'vitest';
import type { StagedItem } from '../../action/action-plan.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { guestModel, newGuest } from '../../execution/test-support/guests.js';
import { EventCatalog } from '../codec/event-catalog.js';
import { planOf } from '../test-support/plans.js';
import { FlushStatements } from './flush-statement.js';

const statements = new FlushStatements(ShardIdentifier.of(0, 0), 'test', new EventCatalog([]));

/** What a statement inserts whose plans add these guests, by address. */
function inserted(...emails: readonly string[]): readonly string[] {
  const descriptor = guestModel as unknown as StagedItem['descriptor'];
  const groups = emails.map((email) => {
    const add: StagedItem = { kind: 'add', descriptor, model: newGuest(email), events: [] };
    return [{ ...planOf(), items: [add] }];
  });
  const { values = [] } = statements.make({ groups, locked: 'skip' });
  return values.map((value) => String(value).replaceAll('"', '')).filter((value) => value.includes('@hotel'));
}

test('rows are inserted in the order of their keys, in whichever order they were staged', () => {
  expect(inserted('b@hotel', 'a@hotel', 'c@hotel')).toEqual(['{a@hotel,b@hotel,c@hotel}']);
  expect(inserted('c@hotel', 'b@hotel', 'a@hotel')).toEqual(['{a@hotel,b@hotel,c@hotel}']);
});
