import { expect, test } from 'vitest';
import type { DatabaseHarness } from '../../../test/databases/databases.js';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import type { FwScheduleOptions } from '../../action/markers.js';
import { Decimal } from '../../domain/decimal.js';
import { ShardedId } from '../../domain/id.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { Account, newAccount } from '../../domain/test-support/account.js';
import { RefusedError } from '../../errors.js';
import { HERE, THERE } from '../../execution/test-support/accounts.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { type Ledger, ledgerMigrations, until } from '../test-support/ledger.js';
import { type Place, recurring, YEARLY } from '../test-support/recurring.js';
import { testLedger } from '../test-support/test-ledger.js';
import { RecurringWork } from './recurring-work.js';
import { MAXIMUM_RUNNING } from './scheduled-actions.js';

function makeShards(harness: DatabaseHarness): Promise<DatabaseRegistry> {
  return harness.makeShards({ shards: [HERE, THERE], migrations: ledgerMigrations });
}

interface Runs {
  readonly began: Place[];
  /** Ends the runs that wait. */
  release: () => void;
  /** Whether runs wait for `release`. */
  waits: boolean;
  fails: boolean;
}

/** A process that delivers. Each run opens an account on its shard. */
function start(databases: DatabaseRegistry, schedule?: FwScheduleOptions): { ledger: Ledger; runs: Runs } {
  const runs: Runs = { began: [], release: () => {}, waits: false, fails: false };
  const released = new Promise<void>((resolve) => {
    runs.release = resolve;
  });
  const action = recurring(schedule, async (plan, params) => {
    runs.began.push(params);
    if (runs.fails) throw new RefusedError('no');
    if (runs.waits) await released;
    const { group = 0, member = 0 } = params;
    plan.add(newAccount(new Decimal(1), ShardIdentifier.of(group, member)).build());
  });
  const ledger = testLedger(databases, {
    change: (known) => [...known, action],
    execution: { timeoutMs: 600_000 },
    limits: { surveyMs: 50, leaseMs: 2_000 },
  });
  ledger.events.start();
  return { ledger, runs };
}

async function accounts(ledger: Ledger, shard = HERE): Promise<number> {
  return Number((await ledger.rows('SELECT count(*) FROM accounts', shard))[0]?.[0]);
}

/** The due time in the year, on all shards. */
async function fallDue(ledger: Ledger, date = 'clock_timestamp()'): Promise<void> {
  await registered(ledger);
  await ledger.rows(`UPDATE eventlog.recurring_actions SET next_date = date_trunc('second', ${date})`);
}

async function registered(ledger: Ledger, shard = HERE): Promise<void> {
  await until(async () => (await ledger.events.schedules.recurring(shard)).length === 1);
}

async function inState(ledger: Ledger, state: 'done' | 'failed' | 'running' | 'pending'): Promise<number> {
  return (await ledger.events.schedules.list({ state })).length;
}

/** The process has seen the due time: it runs the second of two actions that are scheduled now. */
async function seen(ledger: Ledger): Promise<void> {
  const account = await ledger.open();
  const before = await inState(ledger, 'done');
  for (const count of [1, 2]) {
    await ledger.remind(account, new Date());
    await until(async () => (await inState(ledger, 'done')) === before + count);
  }
}

function nextYear(): Date {
  return new Date(Date.UTC(new Date().getUTCFullYear() + 1, 0));
}

/** A release with another time zone, which is stored. */
async function nextRelease(databases: DatabaseRegistry) {
  const { ledger: next } = start(databases, { ...YEARLY, zone: 'Europe/Berlin' });
  const zone = async () => (await next.events.schedules.recurring(HERE))[0]?.zone;
  await until(async () => (await zone()) === 'Europe/Berlin');
  return { next, zone };
}

/** The next due time has moved into the future. */
async function passed(ledger: Ledger): Promise<void> {
  await until(async () => {
    const [first] = await ledger.events.schedules.recurring(HERE);
    return first !== undefined && first.nextDate > new Date();
  });
}

/** The id of a run that has failed for good. The next ones do not fail. */
async function givenUp(ledger: Ledger, runs: Runs): Promise<string> {
  runs.fails = true;
  await fallDue(ledger, "clock_timestamp() - interval '1 hour'");
  await until(async () => (await ledger.events.schedules.list({ state: 'pending' }))[0]?.attempts === 1);
  await ledger.rows('UPDATE eventlog.schedules SET attempts = 11, next_date = clock_timestamp()');
  await until(async () => (await inState(ledger, 'failed')) === 1);
  runs.fails = false;
  return String((await ledger.events.schedules.list({ state: 'failed' }))[0]?.id);
}

describeOnEachAdapter('Recurring actions', (harness) => {
  test('run once at their due time, by a part of the system', async () => {
    const { ledger } = start(await makeShards(harness), { ...YEARLY, principal: 'billing' });
    await registered(ledger);
    const [first] = await ledger.events.schedules.recurring();
    expect(first).toEqual({
      ...{ shard: HERE, actionName: 'Tick', cron: '0 0 1 1 *', zone: 'UTC', isPaused: false },
      ...{ nextDate: nextYear(), lastDate: undefined, lastState: undefined },
    });
    await fallDue(ledger);
    await until(async () => (await inState(ledger, 'done')) === 1);
    expect(await accounts(ledger)).toBe(1);
    const [run] = await ledger.events.schedules.list({ state: 'done' });
    expect(run).toMatchObject({ principal: 'fw:system:billing', params: {} });
    expect(await ledger.events.schedules.recurring()).toMatchObject([
      { nextDate: nextYear(), lastDate: run?.dueDate, lastState: 'done' },
    ]);
  });

  test('get their run in time, although more scheduled actions are due than run at the same time', async () => {
    const { ledger, runs } = start(await makeShards(harness), YEARLY);
    runs.waits = true;
    await registered(ledger);
    const due = Array.from({ length: 70 }, () => ShardedId.generate(Account, HERE).getValue());
    await ledger.rows(`INSERT INTO eventlog.schedules (id, action_id, due_date, next_date, action_name, params, params_version,
        principal, created_date)
      SELECT id, id, now(), now(), 'Tick', '{}', 1, 'fw:system:test', now() FROM unnest('{${due.join(',')}}'::uuid[]) AS id`);
    await until(() => runs.began.length === MAXIMUM_RUNNING);
    await fallDue(ledger);
    await until(async () => (await inState(ledger, 'running')) + (await inState(ledger, 'pending')) === 71);
    runs.release();
    await until(async () => (await inState(ledger, 'done')) === 71);
  });

  test('run once although several processes have them', async () => {
    const databases = await makeShards(harness);
    const [{ ledger }] = [start(databases, YEARLY), start(databases, YEARLY), start(databases, YEARLY)];
    await fallDue(ledger);
    await until(async () => (await inState(ledger, 'done')) === 1);
    // A former holder of the lease that had read the due time before stores no second run of it.
    await ledger.rows('UPDATE eventlog.recurring_actions SET next_date = last_date');
    await passed(ledger);
    expect([await accounts(ledger), await inState(ledger, 'done')]).toEqual([1, 1]);
  });

  test.each([
    ['skip', 0],
    ['once', 1],
    ['each', new Date().getUTCFullYear() - 2019],
  ] as const)('that were missed run as they declare: %s', async (missed, count) => {
    const { ledger } = start(await makeShards(harness), { ...YEARLY, missed });
    await fallDue(ledger, "timestamptz '2020-01-01T00:00:00Z'");
    await passed(ledger);
    await until(async () => (await inState(ledger, 'done')) === count);
    expect(await accounts(ledger)).toBe(count);
    await fallDue(ledger);
    await until(async () => (await inState(ledger, 'done')) === count + 1);
  });

  test('wait for the previous run', async () => {
    const { ledger, runs } = start(await makeShards(harness), YEARLY);
    runs.waits = true;
    await fallDue(ledger, "clock_timestamp() - interval '1 hour'");
    await until(() => runs.began.length === 1);
    await fallDue(ledger);
    await seen(ledger);
    expect(runs.began.length).toBe(1);
    runs.release();
    await until(async () => (await inState(ledger, 'done')) === 4);
    expect(runs.began.length).toBe(2);
  });

  test('wait for a retried run, although a newer one has ended', async () => {
    const { ledger, runs } = start(await makeShards(harness), YEARLY);
    const failed = await givenUp(ledger, runs);
    await fallDue(ledger);
    await until(async () => (await inState(ledger, 'done')) === 1);
    runs.waits = true;
    const began = runs.began.length + 1;
    expect(await ledger.events.schedules.retry(failed)).toBe(true);
    await until(() => runs.began.length === began);
    // Another second than that of the run before: a due time has one run.
    await fallDue(ledger, "clock_timestamp() - interval '1 minute'");
    await seen(ledger);
    expect(runs.began.length).toBe(began);
    runs.release();
    await until(async () => (await inState(ledger, 'done')) === 5);
    expect(runs.began.length).toBe(began + 1);
  });

  test('are not retried beside a run in progress, and leave it the last one', async () => {
    const { ledger, runs } = start(await makeShards(harness), YEARLY);
    const failed = await givenUp(ledger, runs);
    runs.waits = true;
    await fallDue(ledger);
    await until(async () => (await inState(ledger, 'running')) === 1);
    expect(await ledger.events.schedules.retry(failed)).toBe(false);
    expect(await inState(ledger, 'failed')).toBe(1);
    runs.release();
    await until(async () => (await inState(ledger, 'done')) === 1);
    expect(await ledger.events.schedules.retry(failed)).toBe(true);
    await until(async () => (await inState(ledger, 'done')) === 2);
    expect(await ledger.events.schedules.recurring(HERE)).toMatchObject([{ lastState: 'done' }]);
  });

  test('have no run of a due time that was read before a run was retried', async () => {
    const databases = await makeShards(harness);
    const { ledger, runs } = start(databases, YEARLY);
    const failed = await givenUp(ledger, runs);
    await fallDue(ledger, "clock_timestamp() + interval '1 hour'");
    const store = new RecurringWork(databases.database(HERE), new Map(), true);
    const [stale] = await store.stored();
    runs.waits = true;
    expect(await ledger.events.schedules.retry(failed)).toBe(true);
    if (stale === undefined) throw new Error('There is one recurring action');
    await store.advance(stale, nextYear(), true);
    const count = "SELECT count(*) FROM eventlog.schedules WHERE action_name = 'Tick'";
    expect(Number((await ledger.rows(count))[0]?.[0])).toBe(1);
    runs.release();
    await until(async () => (await inState(ledger, 'done')) === 1);
  });

  test('overlap if they declare it', async () => {
    const { ledger, runs } = start(await makeShards(harness), { ...YEARLY, overlap: true });
    runs.waits = true;
    await fallDue(ledger, "clock_timestamp() - interval '1 hour'");
    await until(() => runs.began.length === 1);
    await fallDue(ledger);
    await until(() => runs.began.length === 2);
    runs.release();
    await until(async () => (await inState(ledger, 'done')) === 2);
  });

  test('can be paused beyond a restart', async () => {
    const databases = await makeShards(harness);
    const { ledger } = start(databases, YEARLY);
    await registered(ledger);
    expect(await ledger.events.schedules.pause('Tick')).toBe(1);
    expect(await ledger.events.schedules.pause('Other')).toBe(0);
    await ledger.events.stop();
    const { ledger: later } = start(databases, YEARLY);
    await fallDue(later);
    await passed(later);
    expect(await later.events.schedules.recurring()).toMatchObject([{ isPaused: true, lastDate: undefined }]);
    expect(await later.events.schedules.resume('Tick')).toBe(1);
    await fallDue(later);
    await until(async () => (await inState(later, 'done')) === 1);
    expect(await accounts(later)).toBe(1);
  });

  test('follow the release that started last', async () => {
    const databases = await makeShards(harness);
    const { ledger: old } = start(databases, YEARLY);
    await registered(old);
    const { next, zone } = await nextRelease(databases);
    const berlin = new Date(nextYear().getTime() - 3_600_000);
    expect(await next.events.schedules.recurring()).toMatchObject([{ nextDate: berlin }]);
    await fallDue(next);
    await until(async () => (await inState(next, 'done')) === 1);
    expect(await next.events.schedules.recurring()).toMatchObject([{ nextDate: berlin }]);
    await next.events.stop();
    expect(await zone()).toBe('Europe/Berlin');
    // A process that is gone for a minute no longer decides.
    await old.rows("UPDATE eventlog.recurring_actions SET set_date = set_date - interval '1 minute'");
    await until(async () => (await zone()) === 'UTC');
    expect(await old.events.schedules.recurring()).toMatchObject([{ nextDate: nextYear() }]);
    expect(await accounts(old)).toBe(1);
  });

  test('follow the release that started last also after failovers', async () => {
    const databases = await makeShards(harness);
    const { ledger: old } = start(databases, YEARLY);
    await registered(old);
    const { zone } = await nextRelease(databases);
    for (const timeline of ['0000000B', '0000000C', '0000000D', '0000000E', '0000000F']) {
      await old.rows(`CREATE OR REPLACE FUNCTION eventlog.server_run() RETURNS text LANGUAGE sql STABLE AS
        $$ SELECT '${timeline}/1' $$`);
      // The new server may lack the last changes.
      if (timeline === '0000000D') await old.rows('DELETE FROM eventlog.recurring_actions');
      await new Promise((resolve) => setTimeout(resolve, 500));
      await until(async () => (await zone()) !== undefined);
      expect(await zone()).toBe('Europe/Berlin');
    }
  });

  test('that only a newer release knows wait for it', async () => {
    const databases = await makeShards(harness);
    const old = testLedger(databases, { limits: { surveyMs: 50, leaseMs: 2_000 } });
    old.events.start();
    const holder = "SELECT holder IS NOT NULL FROM eventlog.consumers WHERE name = '#schedules'";
    await until(async () => (await old.rows(holder))[0]?.[0] === true);
    const { ledger: next } = start(databases, YEARLY);
    await fallDue(next);
    await until(async () => (await inState(next, 'done')) === 1);
    expect([await accounts(next), (await next.events.schedules.list()).length]).toEqual([1, 0]);
  });

  test('have no run if the process that has them has just stopped', async () => {
    const databases = await makeShards(harness);
    const old = testLedger(databases, { limits: { surveyMs: 50, leaseMs: 2_000 } });
    old.events.start();
    const { ledger: next } = start(databases, YEARLY);
    await registered(next);
    await next.events.stop();
    await old.rows("UPDATE eventlog.recurring_actions SET next_date = date_trunc('second', now())");
    await seen(old);
    expect(await old.events.schedules.list()).toEqual([]);
    await old.rows("UPDATE eventlog.recurring_actions SET set_date = set_date - interval '1 minute'");
    await until(async () => (await old.events.schedules.recurring()).length === 0);
  });

  test('end with the last process that has them', async () => {
    const databases = await makeShards(harness);
    const { ledger: old } = start(databases, YEARLY);
    await registered(old);
    await old.rows("UPDATE eventlog.recurring_actions SET set_date = set_date - interval '1 minute'");
    const { ledger: next } = start(databases);
    await old.events.stop();
    await until(async () => (await next.events.schedules.recurring()).length === 0);
  });

  test('run on each shard if they declare it, with the shard as their params', async () => {
    const { ledger, runs } = start(await makeShards(harness), { ...YEARLY, on: 'each-shard' });
    for (const shard of [HERE, THERE]) {
      await registered(ledger, shard);
      await ledger.rows(
        "UPDATE eventlog.recurring_actions SET next_date = date_trunc('second', now())",
        shard,
      );
    }
    await until(async () => (await inState(ledger, 'done')) === 2);
    expect([await accounts(ledger, HERE), await accounts(ledger, THERE)]).toEqual([1, 1]);
    expect(runs.began).toHaveLength(2);
    expect(runs.began).toEqual(
      expect.arrayContaining([HERE, THERE].map(({ group, member }) => ({ group, member }))),
    );
  });

  test('with invalid options are refused at start', async () => {
    const databases = await makeShards(harness);
    expect(() => start(databases, { cron: '61 * * * *' })).toThrow(
      "@FwSchedule of Tick: '61 * * * *' is invalid: Invalid value for minute: 61",
    );
    expect(() => start(databases, { ...YEARLY, zone: 'Europe/Berln' })).toThrow(
      "@FwSchedule of Tick: 'Europe/Berln' is not an IANA time zone",
    );
    expect(() => start(databases, { ...YEARLY, principal: 'the billing' })).toThrow(
      '@FwSchedule of Tick: the principal "the billing" does not have 1 to 100 visible ASCII characters',
    );
  });
});
