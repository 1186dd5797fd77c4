import { expect, onTestFinished, test } from 'vitest';
import type { DatabaseHarness } from '../../../test/databases/databases.js';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { ExecutionConfiguration } from '../../action/execution-configuration.js';
import { gate } from '../../concurrency/test-support/gate.js';
import { Decimal } from '../../domain/decimal.js';
import { ALICE, CreditAction, HERE, THERE } from '../../execution/test-support/accounts.js';
import { interceptedDatabases, lost } from '../test-support/faulty-databases.js';
import { type Ledger, type LedgerOptions, ledgerMigrations, until } from '../test-support/ledger.js';
import { recurring, TickAction } from '../test-support/recurring.js';
import { testLedger } from '../test-support/test-ledger.js';
import { MAXIMUM_RUNNING } from './scheduled-actions.js';

async function ledgerOn(harness: DatabaseHarness, options?: LedgerOptions): Promise<Ledger> {
  const databases = await harness.makeShards({ shards: [HERE, THERE], migrations: ledgerMigrations });
  return testLedger(databases, options);
}

function inMs(milliseconds: number): Date {
  return new Date(Date.now() + milliseconds);
}

/** Actions that run until the test releases them. */
function slowActions() {
  const { opened, open: letGo } = gate();
  const actions = { running: 0, most: 0, letGo };
  const run = async (): Promise<void> => {
    actions.running += 1;
    actions.most = Math.max(actions.most, actions.running);
    await opened;
    actions.running -= 1;
  };
  return { actions, run };
}

describeOnEachAdapter('Scheduled actions', (harness) => {
  test('run once when they are due, by the principal that scheduled them', async () => {
    const ledger = await ledgerOn(harness);
    const account = await ledger.open();
    await ledger.creditLater(account, 5, inMs(3_600_000), { name: 'alice', claims: { desk: 'clerk' } });
    ledger.events.start();
    const [scheduled] = await ledger.events.schedules.list();
    expect(scheduled).toMatchObject({
      state: 'pending',
      actionName: 'Credit',
      principal: 'alice',
      params: { account, amount: '5' },
    });
    expect(await ledger.balance(account)).toBe('0');
    await ledger.rows('UPDATE eventlog.schedules SET next_date = clock_timestamp()');
    await until(async () => (await ledger.events.schedules.list({ state: 'done' })).length === 1);
    expect(await ledger.balance(account)).toBe('5');
    expect(await ledger.rows("SELECT principal, claims FROM eventlog.actions WHERE name = 'Credit'")).toEqual(
      [['alice', { desk: 'clerk' }]],
    );
  });

  test('run by the part of the system that they name, without the claims of the caller', async () => {
    const ledger = await ledgerOn(harness);
    const account = await ledger.open();
    const clerk = { name: 'alice', claims: { desk: 'clerk' } };
    await ledger.creditLater(account, 5, inMs(0), clerk, 'billing');
    await ledger.creditLater(account, 1, inMs(0), clerk);
    await expect(ledger.creditLater(account, 1, inMs(0), clerk, 'the billing')).rejects.toThrow(
      'CreditAction cannot be scheduled for "the billing": the name of a part of the system has 1 to 100 visible ASCII characters',
    );
    ledger.events.start();
    await until(async () => (await ledger.events.schedules.list({ state: 'done' })).length === 2);
    const stored = "SELECT principal, claims FROM eventlog.actions WHERE name = 'Credit' ORDER BY principal";
    expect(await ledger.rows(stored)).toEqual([
      ['alice', { desk: 'clerk' }],
      ['fw:system:billing', null],
    ]);
  });

  test('run although callers have used their ids as idempotency keys', async () => {
    const ledger = await ledgerOn(harness);
    const account = await ledger.open();
    const ids = [await ledger.remind(account, inMs(400)), await ledger.remind(account, inMs(400))];
    // Before the first, a caller sends a request with the same params; before the second, a different one.
    for (const [index, id] of ids.entries()) {
      const key = ExecutionConfiguration.Builder.executionConfiguration().idempotencyKey(`schedule:${id}`);
      const params = { account, amount: new Decimal(1 + index * 10) };
      await ledger.executor.execute(ALICE, CreditAction, params, key.build());
    }
    ledger.events.start();
    await until(async () => (await ledger.events.schedules.list({ state: 'done' })).length === 2);
    expect(await ledger.balance(account)).toBe('16');
  });

  test('that a handler has scheduled run by the handler', async () => {
    const ledger = await ledgerOn(harness);
    const account = await ledger.open();
    await ledger.creditLater(account, 5, inMs(0));
    await ledger.rows("UPDATE eventlog.schedules SET principal = 'fw:handler:Mirror'");
    ledger.events.start();
    await until(async () => (await ledger.events.schedules.list({ state: 'done' })).length === 1);
    const runBy = await ledger.rows("SELECT principal FROM eventlog.actions WHERE name = 'Credit'");
    expect(runBy).toEqual([['fw:handler:Mirror']]);
    const asHandler = ledger.executor.execute({ name: 'fw:handler:Mirror' }, CreditAction, {
      account,
      amount: new Decimal(1),
    });
    await expect(asHandler).rejects.toMatchObject({ code: 'FW_VALIDATION' });
  });

  test('are stored with the plan or not at all', async () => {
    const ledger = await ledgerOn(harness);
    const account = await ledger.open();
    await expect(ledger.creditLater(account, -1, inMs(0))).rejects.toThrow('no');
    expect(await ledger.events.schedules.list()).toEqual([]);
  });

  test('are stored on the shard of their plan', async () => {
    const ledger = await ledgerOn(harness);
    const account = await ledger.open(THERE);
    await ledger.creditLater(account, 5, inMs(60_000));
    expect((await ledger.events.schedules.list()).map(({ shard }) => shard)).toEqual([THERE]);
  });

  test('have an id that the plan may store, and by which another plan of their shard cancels them', async () => {
    const ledger = await ledgerOn(harness);
    const account = await ledger.open(THERE);
    const first = await ledger.remind(account, inMs(3_600_000));
    const second = await ledger.remind(account, inMs(3_600_000), first);
    const found = await ledger.events.schedules.list({ shard: THERE });
    expect(found.map(({ id }) => id)).toEqual([second]);
    expect(await ledger.events.schedules.list({ state: 'cancelled' })).toMatchObject([{ id: first }]);
    expect(await ledger.events.schedules.cancel(second)).toBe(true);
    expect(await ledger.events.schedules.cancel(second)).toBe(false);
  });

  test('are cancelled by a plan that is stored in the same statement', async () => {
    const scheduled = new Map<number, string>();
    let account = '';
    // Credits 1, and replaces the scheduled action of the state that it starts from.
    const ledger = await ledgerOn(harness, {
      change: (known, accounts) => [
        ...known,
        recurring(undefined, async (plan) => {
          const before = await accounts.getById(account);
          const { version } = plan.update(before.credit(new Decimal(1)));
          const replaced = scheduled.get(before.version);
          if (replaced !== undefined) plan.cancelSchedule(replaced);
          const params = { account, amount: new Decimal(1), pin: '1' };
          scheduled.set(version, plan.schedule({ afterMs: 3_600_000 }, CreditAction, params).id);
        }),
      ],
    });
    // Changes of a table with checks of its own are not folded into one statement.
    await ledger.rows('ALTER TABLE accounts DROP CONSTRAINT accounts_balance_check');
    account = await ledger.open();
    await Promise.all(Array.from({ length: 8 }, () => ledger.executor.execute(ALICE, TickAction, {})));
    const pending = await ledger.events.schedules.list({ state: 'pending' });
    expect(pending.map(({ id }) => id)).toEqual([scheduled.get(9)]);
    const cancelled = await ledger.events.schedules.list({ state: 'cancelled' });
    expect(cancelled.map(({ id }) => id).toSorted()).toEqual(
      [2, 3, 4, 5, 6, 7, 8].map((version) => scheduled.get(version)).toSorted(),
    );
  });

  test('are cancelled with the plan or not at all', async () => {
    const ledger = await ledgerOn(harness);
    const [account, stranger] = [await ledger.open(THERE), await ledger.open(HERE)];
    const scheduled = await ledger.remind(account, inMs(3_600_000));
    await expect(ledger.remind(stranger, inMs(3_600_000), scheduled)).rejects.toMatchObject({
      code: 'FW_CROSS_SHARD',
    });
    await expect(ledger.remind(account, inMs(3_600_000), 'x')).rejects.toMatchObject({
      code: 'FW_PLAN_MISUSE',
    });
    await ledger.rows('UPDATE accounts SET balance = 999999, version = version + 1', THERE);
    await expect(ledger.remind(account, inMs(3_600_000), scheduled)).rejects.toThrow();
    expect((await ledger.events.schedules.list()).map(({ id }) => id)).toEqual([scheduled]);
  });

  test('that have run are not cancelled', async () => {
    const ledger = await ledgerOn(harness);
    const account = await ledger.open();
    const scheduled = await ledger.remind(account, inMs(0));
    ledger.events.start();
    await until(async () => (await ledger.events.schedules.list({ state: 'done' })).length === 1);
    await ledger.remind(account, inMs(3_600_000), scheduled);
    expect(await ledger.events.schedules.list({ state: 'done' })).toMatchObject([{ id: scheduled }]);
    expect(await ledger.balance(account)).toBe('3');
  });

  test('that were running when their process vanished count this as an attempt, and fail after the last one', async () => {
    const ledger = await ledgerOn(harness);
    const [deadly, innocent] = [await ledger.open(), await ledger.open()];
    for (const account of [deadly, innocent]) await ledger.creditLater(account, 5, inMs(0));
    await ledger.rows(
      `UPDATE eventlog.schedules SET state = 'running', attempts = CASE params ->> 'account' WHEN '${deadly}' THEN 11 ELSE 3 END`,
    );
    ledger.events.start();
    await until(async () => (await ledger.events.schedules.list({ state: 'failed' })).length === 1);
    await until(async () => (await ledger.events.schedules.list({ state: 'done' })).length === 1);
    expect(await ledger.events.schedules.list({ state: 'failed' })).toMatchObject([
      { params: { account: deadly }, errorCode: 'FW_HANDLER_DIED' },
    ]);
    expect([await ledger.balance(deadly), await ledger.balance(innocent)]).toEqual(['0', '5']);
  });

  test('are retried when they fail, and store the error', async () => {
    const ledger = await ledgerOn(harness);
    const account = await ledger.open();
    await ledger.rows(`UPDATE accounts SET balance = 999999, version = version + 1`);
    await ledger.creditLater(account, 5, inMs(0));
    ledger.events.start();
    await until(async () => {
      const [failing] = await ledger.events.schedules.list({ state: 'pending' });
      return failing?.errorCode === 'FW_CONSTRAINT_VIOLATION';
    });
    await ledger.rows(`UPDATE accounts SET balance = 1, version = version + 1`);
    await until(async () => (await ledger.events.schedules.list({ state: 'done' })).length === 1);
    expect(await ledger.balance(account)).toBe('6');
  });

  /** A ledger with some slow scheduled actions and some quick ones. */
  async function slowAmong(quick: number, slow = 1) {
    const { actions, run } = slowActions();
    const ledger = await ledgerOn(harness, {
      execution: { timeoutMs: 600_000 },
      limits: { leaseMs: 2_000, surveyMs: 50 },
      change: (known) => [...known, recurring(undefined, run)],
    });
    const account = await ledger.open();
    const later = async (count: number): Promise<void> => {
      await Promise.all(Array.from({ length: count }, () => ledger.creditLater(account, 1, inMs(-1_000))));
    };
    await later(slow);
    await ledger.rows("UPDATE eventlog.schedules SET action_name = 'Tick', params = '{}'");
    await later(quick);
    return { ledger, actions };
  }

  async function ended(ledger: Ledger, count: number): Promise<void> {
    const done = async (): Promise<number> =>
      (await ledger.events.schedules.list({ state: 'done', limit: 1_000 })).length;
    await until(async () => (await done()) === count);
  }

  test.each([
    ['', 200, 0],
    [' that may have crashed a process', 5, 1],
  ])('are not delayed by a slow one%s', async (which, quick, attempts) => {
    const { ledger, actions } = await slowAmong(quick);
    if (which !== '')
      await ledger.rows("UPDATE eventlog.schedules SET state = 'running' WHERE action_name = 'Tick'");
    ledger.events.start();
    await ended(ledger, quick);
    expect(await ledger.events.schedules.list()).toMatchObject([{ state: 'running', attempts }]);
    actions.letGo();
    await ended(ledger, quick + 1);
  });

  test('are not delayed by one that outlasts the lease under which it started', async () => {
    const { ledger, actions } = await slowAmong(0);
    ledger.events.start();
    await until(() => actions.running === 1);
    await ledger.rows(
      "UPDATE eventlog.consumers SET holder = 'another', leased_until = now() WHERE name = '#schedules'",
    );
    const account = await ledger.open();
    await ledger.creditLater(account, 1, inMs(-1_000));
    await ended(ledger, 1);
    expect(await ledger.events.schedules.list()).toMatchObject([{ state: 'running', attempts: 0 }]);
    expect(actions.running).toBe(1);
    actions.letGo();
    await ended(ledger, 2);
  });

  test('of another holder are taken over with the lease, although this process has had it before', async () => {
    const ledger = await ledgerOn(harness, { limits: { leaseMs: 2_000, surveyMs: 50 } });
    const account = await ledger.open();
    ledger.events.start();
    await ledger.creditLater(account, 1, inMs(-1_000));
    await ended(ledger, 1);
    await ledger.creditLater(account, 1, inMs(3_600_000));
    // Another process claims it, and vanishes.
    await ledger.rows(
      "UPDATE eventlog.consumers SET holder = 'another', fence = fence + 1, leased_until = now() WHERE name = '#schedules'",
    );
    await ledger.rows(
      "UPDATE eventlog.schedules SET state = 'running', next_date = now() WHERE state = 'pending'",
    );
    await ended(ledger, 2);
    expect(await ledger.balance(account)).toBe('2');
  });

  test('whose outcome could not be stored are run again, and take effect once', async () => {
    const ledger = await ledgerOn(harness);
    const account = await ledger.open();
    await ledger.rows(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$`,
    );
    await ledger.rows(`CREATE TRIGGER refuse BEFORE UPDATE ON eventlog.schedules FOR EACH ROW WHEN (new.state = 'done')
      EXECUTE FUNCTION refuse()`);
    ledger.events.start();
    await ledger.creditLater(account, 1, inMs(-1_000));
    await until(() => ledger.warnings.some((each) => each.includes('not now')));
    await ledger.rows('DROP TRIGGER refuse ON eventlog.schedules');
    await ended(ledger, 1);
    expect(await ledger.balance(account)).toBe('1');
  });

  test('whose claim was not answered are run', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    let isLost = false;
    const faulty = interceptedDatabases(databases, async (call, text) => {
      const rows = await call();
      if (isLost || rows.rowCount === 0 || !text.includes('left_behind')) return rows;
      isLost = true;
      throw lost('in-flight');
    });
    onTestFinished(() => faulty.close());
    const ledger = testLedger(faulty);
    const account = await ledger.open();
    ledger.events.start();
    await until(
      async () => (await ledger.rows('SELECT FROM eventlog.consumers WHERE holder IS NOT NULL')).length > 0,
    );
    await ledger.creditLater(account, 1, inMs(300));
    await ended(ledger, 1);
    expect(await ledger.balance(account)).toBe('1');
  });

  test('run in parallel up to the maximum', async () => {
    const { ledger, actions } = await slowAmong(0, MAXIMUM_RUNNING + 6);
    ledger.events.start();
    await until(() => actions.running === MAXIMUM_RUNNING);
    await ledger.open();
    actions.letGo();
    await ended(ledger, MAXIMUM_RUNNING + 6);
    expect(actions.most).toBe(MAXIMUM_RUNNING);
  });
});
