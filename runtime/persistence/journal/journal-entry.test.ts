import { describe, expect, test } from 'vitest';
import type { StagedItem } from '../../action/action-plan.js';
import { columnsOfFields } from '../../domain/column-set.js';
import type { ModelDescriptor } from '../../domain/entity.js';
import { uuid7 } from '../../domain/id-source.js';
import type { JsonValue } from '../../domain/json.js';
import { heldKeys } from '../../domain/natural-key.js';
import { accountModel } from '../../domain/test-support/account.js';
import { guestModel, newGuest } from '../../execution/test-support/guests.js';
import { EventCatalog } from '../codec/event-catalog.js';
import { planOf } from '../test-support/plans.js';
import { handoverSteps } from '../write/key-handover.js';
import type { PlanWrite } from '../write/plan-write.js';
import { paramsVersions, partsToJson, RecordedPartReader } from './journal-entry.js';

const guests = guestModel as unknown as ModelDescriptor;
const reader = new RecordedPartReader([accountModel as unknown as ModelDescriptor, guests]);
const plan: PlanWrite = {
  ...planOf('a1>2', '+b', 'c1?'),
  paramsVersion: 1,
  traceContext: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  schedules: [
    {
      id: uuid7.next(0),
      dueDate: '2030-01-01T00:00:00.000Z',
      actionName: 'Credit',
      params: '{"pin": "\\u0041"}',
      paramsVersion: 2,
      principal: 'fw:system:billing',
    },
  ],
  cancelledSchedules: [uuid7.next(0)],
};

function recorded(): JsonValue {
  return JSON.parse(partsToJson([plan], new EventCatalog([]))) as JsonValue;
}

/** The plan that recovery would apply for the only shard transaction of an entry. */
function restored(parts: JsonValue): PlanWrite | undefined {
  const { name: actionName, principal, startedDate, completedDate } = plan.action;
  const [part] = reader.read({ parts, actionName, principal, startedDate }, completedDate);
  return part?.write;
}

describe('a shard transaction that is recorded', () => {
  test('is the same plan when it is read back', () => {
    expect(restored(recorded())).toEqual(plan);
  });

  test('changes the same columns when it is read back, and all columns if its entry does not list them', () => {
    const [update, ...others] = plan.items;
    if (update?.kind !== 'update') throw new Error('No update');
    const changed = columnsOfFields(update.descriptor, ['balance']);
    const narrow = { ...plan, items: [{ ...update, changed }, ...others] };
    const json = partsToJson([narrow], new EventCatalog([]));
    expect(restored(JSON.parse(json) as JsonValue)).toEqual(narrow);
    expect(restored(JSON.parse(json.replace('"changed":["version","balance"],', '')) as JsonValue)).toEqual(
      plan,
    );
  });

  test('hands natural keys over when it is read back: the one that gives a key is written first', () => {
    const [giver, taker] = [newGuest('a@hotel'), newGuest('b@hotel')];
    const items = [taker.renamed('a@hotel'), giver.renamed('c@hotel')].map((model, index): StagedItem => {
      const heldBefore = heldKeys(index === 0 ? taker : giver);
      return { kind: 'update', descriptor: guests, model, expectedVersion: 1, heldBefore, events: [] };
    });
    const json = JSON.parse(partsToJson([{ ...plan, items }], new EventCatalog([]))) as JsonValue;
    expect([...(handoverSteps(restored(json)?.items ?? [])?.values() ?? [])]).toEqual([0, 1]);
  });

  test('is read without scheduled actions, if it was written before shard transactions had them', () => {
    const [part] = recorded() as readonly { readonly [key: string]: JsonValue }[];
    const { schedules: _, cancelledSchedules: __, ...older } = part ?? {};
    expect(restored([older])).toEqual({ ...plan, schedules: [], cancelledSchedules: [] });
  });

  test('names the versions of all params that it holds, those of scheduled actions included', () => {
    const json = JSON.parse(partsToJson([{ ...plan, paramsVersion: 3 }], new EventCatalog([]))) as JsonValue;
    expect(paramsVersions('Move', json)).toEqual([
      ['Move', 3],
      ['Credit', 2],
    ]);
  });
});
