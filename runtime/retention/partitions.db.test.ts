import { expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import { dropMadePartitions, openLedger } from '../events/test-support/ledger.js';
import { HERE } from '../execution/test-support/accounts.js';
import { makePartitions } from './make-partitions.js';
import { idFloor } from './partitions.js';
import { retain } from './retain.js';
import { ownedShards } from './test-support/owned-shards.js';

const DAY_MS = 24 * 60 * 60 * 1_000;

describeOnEachAdapter('Partitions', (harness) => {
  test('exist after the first migration, so that no row is stored in the default one', async () => {
    const databases = await ownedShards(harness);
    const ledger = openLedger(databases);
    await ledger.credit(await ledger.open());
    const [partition] = await ledger.rows('SELECT tableoid::regclass::text FROM eventlog.events');
    expect(String(partition)).toMatch(/^eventlog\.events_20\d{6}t000000$/);
    expect(await ledger.rows('SELECT FROM eventlog.actions_default')).toEqual([]);
    const database = databases.database(HERE);
    expect((await makePartitions(database, { now: new Date() })).created).toEqual([]);
    const later = await makePartitions(database, { now: new Date(Date.now() + 14 * DAY_MS) });
    expect(later.created.map((name) => name.slice(0, 6))).toEqual(['events', 'events', 'action', 'action']);
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
    const options = { now: new Date(), partitionDays: 1, ahead: 2 };
    expect((await makePartitions(databases.database(HERE), options)).created).toHaveLength(4);
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
    const options = { now: new Date(), partitionDays: 1, ahead: 4 };
    expect((await makePartitions(databases.database(HERE), options)).created).toHaveLength(9);
  }, 120_000);

  test('are not created beside a large default one that has to be scanned, unless an operator asks for them', async () => {
    const databases = await ownedShards(harness);
    const database = databases.database(HERE);
    const ledger = openLedger(databases);
    await dropMadePartitions(ledger);
    await ledger.credit(await ledger.open());
    const place = { database, all: [database] };
    const skipping = await retain(place, { partitionDays: 1 }, { largestScanBytes: 0 });
    expect(skipping.created).toEqual([]);
    const reason = expect.stringMatching(
      /^its 1 MB are scanned while writers wait.*run fw-gen events retain/,
    );
    expect(skipping.kept).toEqual([
      { partition: 'events_default', reason },
      { partition: 'actions_default', reason },
    ]);
    const asked = await retain(place, { partitionDays: 1, ahead: 2 });
    expect(asked).toMatchObject({ kept: [], created: { length: 4 } });
    expect((await retain(place, { partitionDays: 1, ahead: 2 }, { largestScanBytes: 0 })).kept).toEqual([]);
  }, 120_000);
});
