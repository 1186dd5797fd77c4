import { expect, test } from 'vitest';
import { describeOn, describeOnEachAdapter } from '../../test/databases/vitest.js';
import { dropMadePartitions, openLedger, until } from '../events/test-support/ledger.js';
import { HERE } from '../execution/test-support/accounts.js';
import { makePartitions, makePartitionsAtStart } from './make-partitions.js';
import { idFloor } from './partitions.js';
import { retain } from './retain.js';
import { ownedShards } from './test-support/owned-shards.js';

const DAY_MS = 24 * 60 * 60 * 1_000;
const HOUR_MS = 60 * 60 * 1_000;
/** The advisory lock for which the test's event trigger waits. */
const ADVISORY_KEY = 471_100;

describeOnEachAdapter('Partitions', (harness) => {
  test('exist after the first migration, so that no row is stored in the default one', async () => {
    const databases = await ownedShards(harness);
    const ledger = openLedger(databases);
    await ledger.credit(await ledger.open());
    const [partition] = await ledger.rows('SELECT tableoid::regclass::text FROM eventlog.events');
    expect(String(partition)).toMatch(/^eventlog\.events_20\d{6}t000000$/);
    expect(await ledger.rows('SELECT FROM eventlog.actions_default')).toEqual([]);
    const database = databases.database(HERE);
    expect(await makePartitionsAtStart(database, new Date())).toEqual([]);
    const later = await makePartitions(database, { now: new Date(Date.now() + 14 * DAY_MS) });
    expect(later.map((name) => name.slice(0, 6))).toEqual(['events', 'events', 'action', 'action']);
    // Positions continue, independent of a row's partition.
    await ledger.credit(await ledger.open());
    expect(await ledger.rows('SELECT position FROM eventlog.events ORDER BY id')).toEqual([['1'], ['2']]);
  }, 120_000);

  test('begin with the next period if the default one has rows of the current one', async () => {
    const databases = await ownedShards(harness);
    const ledger = openLedger(databases);
    await dropMadePartitions(ledger);
    const account = await ledger.open();
    await ledger.credit(account);
    const made = await makePartitions(databases.database(HERE), {
      now: new Date(),
      partitionDays: 1,
      ahead: 2,
    });
    expect(made).toHaveLength(4);
    await ledger.credit(account);
    expect(await ledger.rows('SELECT DISTINCT tableoid::regclass::text FROM eventlog.events')).toEqual([
      ['eventlog.events_default'],
    ]);
  }, 120_000);

  test('are created beside one of whose time the default one has a row, as of a process with a wrong clock', async () => {
    const databases = await ownedShards(harness);
    const ledger = openLedger(databases);
    await dropMadePartitions(ledger);
    const id = `${idFloor(Date.now() + 2 * DAY_MS).slice(0, 13)}-7000-8000-000000000000`;
    await ledger.rows(`INSERT INTO eventlog.events
      (id, action_id, namespace, model_id, model_name, event_type, payload, created_date, model_version)
      VALUES ('${id}', '${id}', 'test', '${id}', 'Account', 'AccountCredited', '{}', now(), 1)`);
    const made = await makePartitions(databases.database(HERE), {
      now: new Date(),
      partitionDays: 1,
      ahead: 4,
    });
    expect(made).toHaveLength(9);
  }, 120_000);

  test('are created despite a left-over constraint', async () => {
    const databases = await ownedShards(harness);
    const ledger = openLedger(databases);
    await dropMadePartitions(ledger);
    const [from, to] = [idFloor(Date.now() - HOUR_MS), idFloor(Date.now() + DAY_MS)];
    await ledger.rows(`ALTER TABLE eventlog.events_default
      ADD CONSTRAINT fw_partitions_ahead CHECK (id < '${from}' OR id >= '${to}') NOT VALID`);
    await expect(ledger.credit(await ledger.open())).rejects.toMatchObject({
      code: 'FW_CONSTRAINT_VIOLATION',
    });
    await makePartitionsAtStart(databases.database(HERE), new Date());
    expect(await ledger.rows("SELECT FROM pg_constraint WHERE conname = 'fw_partitions_ahead'")).toEqual([]);
    await ledger.credit(await ledger.open());
  }, 120_000);
});

describeOn('postgresql', 'Partitions over existing rows', (harness) => {
  test('are created while writers and readers continue, without a scan under a lock', async () => {
    const databases = await ownedShards(harness);
    const database = databases.database(HERE);
    const ledger = openLedger(databases);
    await dropMadePartitions(ledger);
    const account = await ledger.open();
    await ledger.credit(account);
    const session = await database.acquire();
    // The trigger waits while holding all locks of the validation, after its scan, and counts the scans of every
    // change.
    await session.script(`create table scans (query text, moment text, scans bigint);
      create function fw_stand_still() returns event_trigger language plpgsql as $$ begin
        insert into scans
          select current_query(), tg_event, pg_stat_get_xact_numscans('eventlog.events_default'::regclass);
        if tg_event = 'ddl_command_end' and current_query() like '%VALIDATE%' then perform pg_advisory_xact_lock(${ADVISORY_KEY}); end if;
      end $$;
      create event trigger fw_count on ddl_command_start execute function fw_stand_still();
      create event trigger fw_stand_still on ddl_command_end execute function fw_stand_still();
      select pg_advisory_lock(${ADVISORY_KEY});`);
    const standsStill = async (): Promise<boolean> => {
      const rows = await ledger.rows(
        `SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = ${ADVISORY_KEY} AND NOT granted`,
      );
      return rows.length > 0;
    };
    const options = { partitionDays: 1, ahead: 3, largestScanBytes: 0 };
    const retained = retain({ database, all: [database] }, options, new Date());
    try {
      await until(standsStill);
      for (let count = 0; count < 20; count += 1) await ledger.credit(account);
      expect(await ledger.rows('SELECT count(*) FROM eventlog.events')).toEqual([['21']]);
      expect(await standsStill()).toBe(true);
    } finally {
      await session.script(`select pg_advisory_unlock(${ADVISORY_KEY})`);
    }
    const { created } = await retained;
    await session.script('drop event trigger fw_stand_still; drop event trigger fw_count');
    session.release();
    expect(created.filter((name) => name.startsWith('events'))).toHaveLength(3);
    const scans = (command: string): string =>
      `SELECT count(*) FILTER (WHERE moment = 'ddl_command_end'),
        sum(CASE moment WHEN 'ddl_command_end' THEN scans ELSE -scans END)
      FROM scans WHERE query LIKE '%${command}%' AND query LIKE '%eventlog.events%'`;
    expect(await ledger.rows(scans('VALIDATE'))).toEqual([['1', '1']]);
    expect(await ledger.rows(scans('ATTACH'))).toEqual([['3', '0']]);
    await ledger.credit(account);
  }, 120_000);
});
