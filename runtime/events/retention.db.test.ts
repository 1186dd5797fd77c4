import { expect, test } from 'vitest';
import { uuid7 } from '../domain/id-source.js';
import { HERE } from '../execution/test-support/accounts.js';
import { describeOnEachAdapter } from '../testing/databases-vitest.js';
import { retain } from './retention.js';
import { handlerOf, ledgerMigrations, openLedger, until } from './test-support/ledger.js';

const DAY_MS = 24 * 60 * 60 * 1_000;
const OLD = Date.UTC(2024, 0, 10, 12);

describeOnEachAdapter('Retention', (harness) => {
  test('makes partitions ahead and drops them when nobody needs them any more', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const database = databases.database(HERE);
    const seen: number[] = [];
    const ledger = openLedger(databases, {
      handlers: [handlerOf('Late', (e) => void seen.push(e.modelVersion))],
    });
    const options = { keepDays: 2, ahead: 2 };
    const first = await retain(database, options, new Date(OLD - DAY_MS));
    expect(first).toMatchObject({ dropped: [], kept: [], completeFrom: undefined });
    expect(first.created).toContain('events_20240110t000000');
    expect((await retain(database, options, new Date(OLD - DAY_MS))).created).toEqual([]);
    uuid7.reset({ nowMs: () => OLD, fillRandom: (bytes) => void crypto.getRandomValues(bytes) });
    try {
      const account = await ledger.open();
      await ledger.credit(account);
    } finally {
      uuid7.reset();
    }
    await ledger.rows("UPDATE eventlog.events SET created_date = '2024-01-10'");
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
      reason: 'events of its actions are still there',
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

  test('refuses to keep less than a day', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    await expect(openLedger(databases).events.retain({ keepDays: 0.5 })).rejects.toMatchObject({
      code: 'FW_VALIDATION',
    });
  });
});
