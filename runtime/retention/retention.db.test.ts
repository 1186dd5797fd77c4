import { expect, test } from 'vitest';
import { describeOn, describeOnEachAdapter } from '../../test/databases/vitest.js';
import { idNamed } from '../domain/id.js';
import { uuid7 } from '../domain/id-source.js';
import { interceptedDatabases } from '../events/test-support/faulty-databases.js';
import {
  dropMadePartitions,
  handlerOf,
  type Ledger,
  openLedger,
  until,
} from '../events/test-support/ledger.js';
import { HERE } from '../execution/test-support/accounts.js';
import { EventHistory } from '../persistence/read/event-history.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { DELETED_AT_ONCE } from './drop-partitions.js';
import { idFloor } from './partitions.js';
import { type RetentionOptions, type RetentionReport, retain as retainAt } from './retain.js';
import { ownedShards } from './test-support/owned-shards.js';

function retain(database: ShardDatabase, options: RetentionOptions, now: Date): Promise<RetentionReport> {
  return retainAt({ database, all: [database] }, options, { time: now });
}

const DAY_MS = 24 * 60 * 60 * 1_000;
const OLD = Date.UTC(2024, 0, 10, 12);

/** Creates an account that was opened and credited in January 2024. */
async function creditLongAgo(ledger: Ledger): Promise<string> {
  uuid7.reset({ nowMs: () => OLD, fillRandom: (bytes) => void crypto.getRandomValues(bytes) });
  try {
    const account = await ledger.open();
    await ledger.credit(account);
    await ledger.rows("UPDATE eventlog.events SET created_date = '2024-01-10'");
    return account;
  } finally {
    uuid7.reset();
  }
}

describeOnEachAdapter('Retention', (harness) => {
  test('creates partitions in advance and drops unneeded ones', async () => {
    const databases = await ownedShards(harness);
    const database = databases.database(HERE);
    const seen: number[] = [];
    const ledger = openLedger(databases, {
      handlers: [handlerOf('Late', (e) => void seen.push(e.modelVersion))],
    });
    const options = { keepDays: 2, partitionDays: 1, ahead: 2 };
    await dropMadePartitions(ledger);
    const first = await retain(database, options, new Date(OLD - DAY_MS));
    expect(first).toMatchObject({ dropped: [], kept: [], completeFrom: undefined });
    expect(first.created).toContain('events_20240110t000000');
    expect((await retain(database, options, new Date(OLD - DAY_MS))).created).toEqual([]);
    await creditLongAgo(ledger);
    expect(await ledger.rows('SELECT tableoid::regclass::text FROM eventlog.events')).toEqual([
      ['eventlog.events_20240110t000000'],
    ]);
    ledger.events.start();
    await until(() => seen.length === 1);
    await ledger.events.stop();
    await ledger.rows("UPDATE eventlog.consumers SET position = 0, transaction_id = '0' WHERE name = 'Late'");
    const held = await retain(database, options, new Date(OLD + 10 * DAY_MS));
    expect(held.kept).toContainEqual({
      partition: 'events_20240110t000000',
      reason: 'Late has not handled all of it',
    });
    expect(held.kept).toContainEqual({
      partition: 'actions_20240110t000000',
      reason: 'events of its actions still exist',
    });
    ledger.events.start();
    await until(() => seen.length === 2);
    await ledger.events.stop();
    const last = await retain(database, options, new Date(OLD + 10 * DAY_MS));
    expect(last.kept).toEqual([]);
    expect(last.dropped).toEqual(
      expect.arrayContaining(['events_20240110t000000', 'actions_20240110t000000']),
    );
    expect(await ledger.rows('SELECT FROM eventlog.events')).toEqual([]);
    expect(last.completeFrom).toEqual(new Date(Date.UTC(2024, 0, 12)));
    expect(await ledger.events.completeFrom(HERE)).toEqual(last.completeFrom);
  });

  test('empties the default partition by the same rules, and then reports from when the history is complete', async () => {
    const databases = await ownedShards(harness);
    const database = databases.database(HERE);
    const handlers = [handlerOf('Late', () => {})];
    const ledger = openLedger(databases, { handlers });
    const history = new EventHistory(ledger.gateways);
    await dropMadePartitions(ledger);
    const account = await creditLongAgo(ledger);
    const [old, recent] = [await lastAction(ledger), await lastActionOf(ledger, ledger.credit(account))];
    expect(await ledger.executor.outcomeOf(old)).toBe('committed');
    expect(await history.of(idNamed('Account', account))).toMatchObject({ completeFrom: null });
    ledger.events.start();
    await until(async () => (await ledger.events.lag())[0]?.consumers[0]?.behind === 0);
    await ledger.events.stop();
    await ledger.rows("UPDATE eventlog.consumers SET position = 0, transaction_id = '0' WHERE name = 'Late'");
    const now = new Date(OLD + 10 * DAY_MS);
    expect((await retain(database, { keepDays: 2 }, now)).kept).toEqual([
      { partition: 'events_default', reason: 'Late has not handled all of it' },
      { partition: 'actions_default', reason: 'events of its actions still exist' },
    ]);
    await ledger.rows("DELETE FROM eventlog.consumers WHERE name = 'Late'");
    const { kept, dropped, completeFrom } = await retain(database, { keepDays: 2 }, now);
    expect({ kept, dropped }).toEqual({ kept: [], dropped: ['events_default', 'actions_default'] });
    expect(completeFrom).toEqual(new Date(Date.UTC(2024, 0, 18)));
    expect(await ledger.rows('SELECT count(*) FROM eventlog.events')).toEqual([['1']]);
    await ledger.rows('UPDATE eventlog.events SET event_version = 2');
    expect(await history.of(idNamed('Account', account))).toMatchObject({
      items: [{ eventVersion: 2 }],
      completeFrom,
    });
    await expect(ledger.executor.outcomeOf(old)).rejects.toMatchObject({
      code: 'FW_OUTCOME_FORGOTTEN',
      completeFrom,
    });
    expect(await ledger.executor.outcomeOf(recent)).toBe('committed');
    expect(await ledger.executor.outcomeOf(uuid7.next(HERE.bits))).toBe('void');
  });

  test('keeps actions that an open cross-shard plan or an event of the next period refers to', async () => {
    const databases = await ownedShards(harness);
    const database = databases.database(HERE);
    const ledger = openLedger(databases);
    await dropMadePartitions(ledger);
    const options = { keepDays: 2, partitionDays: 1, ahead: 2 };
    await retain(database, options, new Date(OLD - DAY_MS));
    await creditLongAgo(ledger);
    const action = await lastAction(ledger);
    const parts = JSON.stringify([{ actionId: action, shard: '(0, 0)' }]);
    await ledger.rows(`INSERT INTO eventlog.journal (id, action_name, principal, started_date, parts, state)
      VALUES ('${action}', 'Credit', 'alice', now(), '${parts}', 'flagged')`);
    const now = new Date(OLD + 10 * DAY_MS);
    const actions = 'actions_20240110t000000';
    expect((await retain(database, options, now)).kept).toEqual([
      { partition: actions, reason: 'cross-shard plans that are not closed refer to its actions' },
    ]);
    await ledger.rows(
      "UPDATE eventlog.journal SET state = 'closed', outcome = 'applied', closed_date = now()",
    );
    // An event of the second after midnight, whose action began before it.
    await ledger.rows(`INSERT INTO eventlog.events
      (id, action_id, namespace, model_id, model_name, event_type, payload, created_date, model_version)
      SELECT '${idFloor(Date.UTC(2024, 0, 11) + 1_000)}', '${action}', 'test', '1', 'Account', 'Other', '{}', now(), 1`);
    expect((await retain(database, options, now)).kept).toContainEqual({
      partition: actions,
      reason: 'events of its actions still exist',
    });
    await ledger.rows('DELETE FROM eventlog.events');
    expect((await retain(database, options, now)).dropped).toContain(actions);
  }, 120_000);

  test('keeps at least a day, and at most a hundred years', async () => {
    const databases = await ownedShards(harness);
    const { events } = openLedger(databases);
    const endless = Number.POSITIVE_INFINITY;
    for (const wrong of [
      { keepDays: 0.5 },
      { keepDays: endless },
      { partitionDays: 1e6 },
      { ahead: endless },
    ])
      await expect(events.retain(wrong)).rejects.toMatchObject({ code: 'FW_VALIDATION' });
    // They begin before 1970.
    expect(await events.retain({ keepDays: 36_500 })).toMatchObject([{ dropped: [], kept: [] }]);
  });

  test('deletes some of many scheduled actions in each transaction', async () => {
    const databases = await ownedShards(harness);
    const { rows, events } = openLedger(databases);
    const id =
      "overlay('0190b8a0-0000-7000-8000-000000000000' placing lpad(nr::text, 12, '0') from 25)::uuid";
    const day = "now() - interval '3 days'";
    await rows(`INSERT INTO eventlog.schedules
        (id, state, due_date, next_date, action_name, params, principal, action_id, created_date, completed_date)
      SELECT ${id}, 'done', ${day}, ${day}, 'Test', '{}', 'alice', ${id}, ${day}, ${day}
      FROM generate_series(1, ${DELETED_AT_ONCE + 5}) AS nr`);
    await rows('CREATE TABLE deletions (count bigint)');
    await rows(`CREATE FUNCTION count_deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO deletions SELECT count(*) FROM gone; RETURN NULL; END $$`);
    await rows(`CREATE TRIGGER counting AFTER DELETE ON eventlog.schedules REFERENCING OLD TABLE AS gone
      FOR EACH STATEMENT EXECUTE FUNCTION count_deleted()`);
    expect(await events.retain({ keepDays: 1 })).toMatchObject([{ deletedSchedules: DELETED_AT_ONCE + 5 }]);
    expect((await rows('SELECT count::int FROM deletions')).flat()).toEqual([DELETED_AT_ONCE, 5]);
  });
});

/** Id of the most recent action. */
async function lastAction(ledger: Ledger): Promise<string> {
  const rows = await ledger.rows('SELECT id FROM eventlog.actions ORDER BY id DESC LIMIT 1');
  return String(rows[0]?.[0]);
}

async function lastActionOf(ledger: Ledger, work: Promise<unknown>): Promise<string> {
  await work;
  return lastAction(ledger);
}

describeOn('postgresql', 'A logical replication slot', (harness) => {
  test('keeps partitions that it has not passed', async () => {
    const databases = await ownedShards(harness);
    const database = databases.database(HERE);
    const ledger = openLedger(databases);
    const slot = `fw_retention_${process.pid}`;
    const options = { keepDays: 2, partitionDays: 1, ahead: 2 };
    await dropMadePartitions(ledger);
    await retain(database, options, new Date(OLD - DAY_MS));
    await creditLongAgo(ledger);
    // Creating a slot waits for every transaction of the server, including those of other tests.
    await ledger.rows(
      `SELECT set_config('lock_timeout', '25s', true), pg_create_logical_replication_slot('${slot}', 'pgoutput')`,
    );
    try {
      const now = new Date(OLD + 10 * DAY_MS);
      const reason = `replication slot ${slot} has not passed it`;
      const held = await retain(database, options, now);
      expect(held.kept).toContainEqual({ partition: 'events_20240110t000000', reason });
      expect((await retain(database, options, now)).dropped).not.toContain('events_20240110t000000');
      await ledger.rows(`SELECT pg_replication_slot_advance('${slot}', pg_current_wal_lsn())`);
      expect((await retain(database, options, now)).dropped).toContain('events_20240110t000000');
    } finally {
      await ledger.rows(`SELECT pg_drop_replication_slot('${slot}')`);
    }
  });
});

describeOn('postgresql', 'A rebuild of a projection', (harness) => {
  test('is refused if retention is deleting events while it is ordered', async () => {
    const databases = await ownedShards(harness);
    const ledger = openLedger(databases, {
      handlers: [handlerOf('Totals', () => {}, { transactional: true, projection: ['seen'] })],
    });
    const options = { keepDays: 2, partitionDays: 1, ahead: 2 };
    await dropMadePartitions(ledger);
    await retain(databases.database(HERE), options, new Date(OLD));
    await creditLongAgo(ledger);
    ledger.events.start();
    await until(async () => (await ledger.events.lag())[0]?.consumers[0]?.behind === 0);
    await ledger.events.stop();
    let ordered: Promise<string> | undefined;
    const watched = interceptedDatabases(databases, async (call, text) => {
      if (text.startsWith('DROP TABLE eventlog.events_')) {
        ordered ??= ledger.events.rebuild('Totals').then(() => 'ordered', String);
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
      return call();
    });
    const report = await retain(watched.database(HERE), options, new Date(OLD + 10 * DAY_MS));
    expect(report.dropped).toContain('events_20240110t000000');
    expect(await ordered).toContain('have been deleted by retention: a rebuild needs all');
    expect(await ledger.events.rebuilds('Totals')).toEqual([]);
  });
});
