import { expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import type { StagedItem } from '../../action/action-plan.js';
import { Decimal } from '../../domain/decimal.js';
import { uuid7 } from '../../domain/id-source.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { AccountCredited } from '../../domain/test-support/account.js';
import { accountEvents } from '../../execution/test-support/accounts.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { encodeValues } from '../../sharding/wire-values.js';
import { EventCatalog } from '../codec/event-catalog.js';
import { idOf, openStore, planOf } from '../test-support/plans.js';
import { flushStatement } from './flush-statement.js';
import type { PlanWrite } from './plan-write.js';
import { ShardWriter } from './shard-writer.js';

const HERE = ShardIdentifier.of(0, 0);
const events = new EventCatalog(accountEvents);

interface Case {
  readonly changes: readonly string[];
  readonly event?: boolean;
  readonly key?: boolean;
  /** An action to be run later, another one that is taken back, an entry in the journal. */
  readonly later?: boolean;
  readonly claims?: string;
  readonly trace?: string;
}

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

const EVERYTHING: Case = { changes: ['a1>2', '+new'], event: true, key: true, later: true };

/** Rows are at version 1 when a case begins; `a` is what most of them touch. */
const CASES: Readonly<Record<string, Case>> = {
  'an update': { changes: ['a1>2'], event: true },
  'an update of an old version': { changes: ['a4>5'], event: true },
  'an update of a row that is not there': { changes: ['nobody1>2'] },
  'an insert': { changes: ['+new'], event: true, key: true },
  'an expectation': { changes: ['a1?'], key: true },
  'an expectation that does not hold': { changes: ['a2?'] },
  'an insert that depends on an expectation': { changes: ['a1?', '+new'] },
  'an update with an insert and a key': { changes: ['a1>2', '+new'], event: true, key: true },
  'nothing but a key': { changes: [], key: true },
  'everything that a plan may leave': EVERYTHING,
  'everything, by a principal with claims': { ...EVERYTHING, claims: '{"role": "o\'brien"}' },
  'an update with a trace that no row keeps': { changes: ['a1>2'], trace: TRACE },
  'everything, with a trace': { ...EVERYTHING, trace: TRACE },
  'everything, of an old version': { ...EVERYTHING, changes: ['a4>5', '+new'] },
};

function planFor({ changes, event = false, key = false, later = false, claims, trace }: Case): PlanWrite {
  const plan = planOf(...changes);
  const items = plan.items.map((item, index): StagedItem => {
    if (item.kind === 'expect' || !event || index > 0) return item;
    return { ...item, events: [new AccountCredited(idOf('a'), new Decimal('1.5'))] };
  });
  const claim = {
    ...{ principal: 'test', operation: 'Test', key: 'key "1"', fingerprint: 'f' },
    ...{ target: HERE, result: '{"done": true}', keepMs: 60_000 },
  };
  const action = { ...plan.action, claims };
  const written = { ...plan, action, items, traceContext: trace, key: key ? claim : undefined };
  if (!later) return written;
  const schedule = { id: LATER, actionName: 'Test', params: '{}', paramsVersion: 1 };
  return {
    ...written,
    schedules: [{ ...schedule, dueDate: '2030-01-01T00:00:00.000Z' }],
    cancelledSchedules: [EARLIER],
    journal: { parts: '[{"a": "\\"1\\""}]', holdMs: 60_000 },
  };
}

const [EARLIER, LATER] = [uuid7.next(HERE.bits), uuid7.next(HERE.bits)];

/** Adds row `a`, and an action that is to be run some day. */
function planned(): PlanWrite {
  const schedule = { dueDate: '2029-01-01T00:00:00.000Z', actionName: 'Early', params: '{"b": "\\"2\\""}' };
  return { ...planOf('+a'), schedules: [{ ...schedule, id: EARLIER, paramsVersion: 1 }] };
}

/** Everything that a flush leaves behind, without what differs from time to time. */
async function stored(database: ShardDatabase): Promise<unknown> {
  const texts = [
    `SELECT id, state, version, balance::text, closed_by, created_date::text FROM accounts ORDER BY id`,
    `SELECT status, namespace, name, principal, params::text, claims::text FROM eventlog.actions
     WHERE name <> '+zneighbour' ORDER BY name`,
    `SELECT namespace, model_id, model_name, event_type, payload::text, model_version, event_version, trace_context
     FROM eventlog.events`,
    `SELECT principal, operation, key, fingerprint, target_group, target_member, result::text, expires_date - created_date
     FROM eventlog.idempotency_keys`,
    `SELECT id, due_date::text, next_date::text, action_name, params::text, params_version, principal, trace_context,
     state, claims::text FROM eventlog.schedules ORDER BY id`,
    `SELECT action_name, principal, parts::text, id = lease_owner, lease_expires_date > now() FROM eventlog.journal`,
  ];
  const answers: unknown[] = [];
  for (const text of texts) answers.push((await database.query({ text, values: [] })).rows);
  return answers;
}

describeOnEachAdapter('a single plan', (harness) => {
  test.each(Object.entries(CASES))('ends and stores as a merged statement does: %s', async (_name, given) => {
    const ends: unknown[] = [];
    for (const isMerged of [false, true]) {
      const { database, store } = await openStore(harness);
      await store.flush({ groups: [[planned()], [planOf('+zneighbour')]], locked: 'wait' });
      const plan = planFor(given);
      const groups = isMerged ? [[plan], [planOf('zneighbour1?')]] : [[plan]];
      const [outcome] = await store.flush({ groups, locked: 'skip' });
      await database.query({
        text: "DELETE FROM eventlog.actions WHERE name = 'zneighbour1?'",
        values: [],
      });
      ends.push([outcome, await stored(database)]);
    }
    expect(ends[0]).toEqual(ends[1]);
  });

  test('is left out if its attempt was given up, alone and among others, which are applied', async () => {
    const { database, store } = await openStore(harness);
    await store.flush({ groups: [[planOf('+a')], [planOf('+b')], [planOf('+c')]], locked: 'wait' });
    const [single, one, other] = [
      planFor({ changes: ['a1>2'], event: true }),
      planOf('b1>2'),
      planOf('c1>2'),
    ];
    await store.fence(single.action);
    expect(await store.flush({ groups: [[single]], locked: 'skip' })).toEqual(['left-out']);
    const merged = store.flush({ groups: [[single], [one]], locked: 'skip' });
    await expect(merged).rejects.toMatchObject({ sqlState: '23505', schema: 'eventlog' });
    const writer = new ShardWriter(store, HERE);
    const submissions = [single, one, other].map((plan) => writer.submit(plan, { timeoutMs: 60_000 }));
    const outcomes = await Promise.all(submissions.map(({ outcome }) => outcome));
    expect(outcomes.map(({ kind }) => kind)).toEqual(['stale', 'applied', 'applied']);
    expect(await versionsOf(database)).toEqual(['1', '2', '2']);
  });

  test('of a chain is left out with the whole chain if the attempt of any plan was given up', async () => {
    const { database, store } = await openStore(harness);
    await store.flush({ groups: [[planOf('+a')]], locked: 'wait' });
    const chain = [planOf('a1>2'), planOf('a2>3')];
    for (const member of chain) {
      await store.fence(member.action);
      const flush = store.flush({ groups: [[...chain]], locked: 'skip' });
      await expect(flush).rejects.toMatchObject({ sqlState: '23505' });
      expect(await versionsOf(database)).toEqual(['1']);
      const text = 'DELETE FROM eventlog.actions WHERE id = $1';
      await database.query({ text, values: [member.action.id] });
    }
  });
});

async function versionsOf(database: ShardDatabase): Promise<readonly unknown[]> {
  const { rows } = await database.query({
    text: 'SELECT version FROM accounts ORDER BY version',
    values: [],
  });
  return rows.map(([version]) => version);
}

const ORIGIN = { shard: HERE, namespace: 'test', events };

test('ids and instants of the merged form are sent packed', () => {
  const groups = [[planOf('a1>2')], [planOf('+b')]];
  const { text, values } = flushStatement({ groups, locked: 'skip' }, ORIGIN);
  const typesOf = (type: string): readonly number[] =>
    [...text.matchAll(/\$(\d+)::(\w+)\[\]/g)]
      .filter(([, , found]) => found === type)
      .map(([, at]) => Number(at));
  const packed = new Set([...typesOf('uuid'), ...typesOf('timestamptz')]);
  expect(packed.size).toBeGreaterThan(6);
  for (const at of packed) expect(encodeValues(values)[at - 1]).toBeInstanceOf(Buffer);
});
