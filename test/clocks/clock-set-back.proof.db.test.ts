import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { ConsumerStore } from '../../runtime/events/delivery/consumer-store.js';
import {
  handlerOf,
  type Ledger,
  type LedgerOptions,
  ledgerMigrations,
  until,
} from '../../runtime/events/test-support/ledger.js';
import { testLedger } from '../../runtime/events/test-support/test-ledger.js';
import { HERE } from '../../runtime/execution/test-support/accounts.js';
import { LockStore } from '../../runtime/locks/lock-store.js';
import { JournalStore } from '../../runtime/persistence/journal/journal-store.js';
import { noteRun, readLastRun } from '../../runtime/retention/last-run.js';
import type { DatabaseRegistry } from '../../runtime/sharding/database-registry.js';
import type { ShardsOptions } from '../databases/databases.js';
import { rowsAsOwner } from '../databases/roles.js';
import { describeOnEachAdapter } from '../databases/vitest.js';

const LEASE_MS = 2_000;

function processOf(databases: DatabaseRegistry, options: LedgerOptions = {}): Ledger {
  return testLedger(databases, { ...options, limits: { leaseMs: LEASE_MS, surveyMs: 50 } });
}

/**
 * Rows that were written before a clock was set back by ten minutes differ from others only by times in the future, so
 * the tests move those of the rows instead of the clock.
 */
describeOnEachAdapter('After the clock of a database was set back by ten minutes', (harness) => {
  const shards = (options: ShardsOptions = {}): Promise<DatabaseRegistry> =>
    harness.makeShards({ shards: [HERE], migrations: ledgerMigrations, ...options });

  /** The first column of the first row. */
  async function ask(databases: DatabaseRegistry, text: string): Promise<unknown> {
    return (await rowsAsOwner(databases, HERE, text))[0]?.[0];
  }

  test('another process takes over the leases of one that has died', async () => {
    const databases = await shards();
    const handled: string[] = [];
    const handler = handlerOf('Mirror', ({ modelId }) => void handled.push(modelId));
    const first = processOf(databases, { handlers: [handler] });
    const account = await first.open();
    first.events.start();
    await first.credit(account);
    await until(() => handled.length === 1);
    await first.events.stop();
    // As it would be if the process had died instead, and then the clock had been set back.
    await ask(
      databases,
      `UPDATE eventlog.consumers SET holder = 'dead', leased_on = eventlog.server_run(), lease_ms = ${LEASE_MS},
         leased_until = clock_timestamp() + interval '10 minutes'`,
    );
    await ask(
      databases,
      `INSERT INTO eventlog.delivery_processes VALUES ('dead', '{Mirror}', clock_timestamp() + interval '10 minutes')`,
    );
    const second = processOf(databases, { handlers: [handler] });
    second.events.start();
    await second.credit(account);
    await until(() => handled.length === 2);
    expect(await ask(databases, "SELECT vanished FROM eventlog.consumers WHERE name = 'Mirror'")).toBe(true);
  });

  test('a process that is alive keeps its lease, which ends within its duration', async () => {
    const databases = await shards();
    const holder = processOf(databases, { handlers: [handlerOf('Mirror', () => {})] });
    holder.events.start();
    const name = "name = 'Mirror' AND holder IS NOT NULL";
    await until(
      async () => (await ask(databases, `SELECT true FROM eventlog.consumers WHERE ${name}`)) === true,
    );
    await holder.events.stop();
    const store = new ConsumerStore(databases.database(HERE));
    const leaseMs = 60_000;
    const taken = await store.acquire('Mirror', 'alive', leaseMs);
    await ask(databases, "UPDATE eventlog.consumers SET leased_until = leased_until + interval '10 minutes'");
    const survey = await store.survey('other', ['Mirror'], 100, []);
    expect(survey.consumers.find((each) => each.name === 'Mirror')).toMatchObject({ free: false });
    expect(await store.acquire('Mirror', 'other', 100)).toBeUndefined();
    expect(
      await ask(databases, msUntil("eventlog.consumers WHERE name = 'Mirror'", 'leased_until')),
    ).toBeLessThanOrEqual(leaseMs);
    expect(taken && (await store.readState(taken.lease))).toBeDefined();
  });

  test('a keyed lock is free within the time for which it was held', async () => {
    const databases = await shards();
    const store = new LockStore(databases.database(HERE));
    const [dead, waiting] = [randomUUID(), randomUUID()].map((owner) => ({ name: 'x', owner }));
    if (dead === undefined || waiting === undefined) throw new Error('There are two');
    await store.acquire(dead, 50);
    await ask(databases, "UPDATE eventlog.locks SET expires_date = expires_date + interval '10 minutes'");
    expect(await store.acquire(waiting, 50)).toBeUndefined();
    await until(async () => (await store.acquire(waiting, 50)) !== undefined);
  });

  test('a cross-shard plan is finished within the time for which its process had claimed it', async () => {
    const databases = await shards();
    const store = new JournalStore(databases.database(HERE));
    await processOf(databases).open();
    await ask(
      databases,
      `INSERT INTO eventlog.journal (id, action_name, principal, started_date, parts, lease_owner, lease_ms,
         lease_expires_date, next_date)
       SELECT id, 'Transfer', 'alice', now(), '[]', id, 50, now() + interval '10 minutes', now() + interval '15 minutes'
       FROM eventlog.actions LIMIT 1`,
    );
    await until(async () => (await store.survey(10)).due.length === 1);
  });

  test('retention is due again', async () => {
    const databases = await shards({ owner: 'retention' });
    const database = databases.database(HERE);
    await noteRun(database);
    expect(await readLastRun(database, 60_000)).toMatchObject({ isDue: false });
    await ask(databases, "UPDATE eventlog.maintenance SET done_date = done_date + interval '10 minutes'");
    expect(await readLastRun(database, 60_000)).toMatchObject({ isDue: true });
  });
});

/** The milliseconds until a time. */
function msUntil(from: string, column: string): string {
  return `SELECT (extract(epoch FROM ${column} - clock_timestamp()) * 1000)::float8 FROM ${from}`;
}
