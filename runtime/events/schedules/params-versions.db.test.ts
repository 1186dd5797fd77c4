import { expect, test } from 'vitest';
import type { DatabaseHarness } from '../../../test/databases/databases.js';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import type { ActionDescriptor } from '../../action/action-descriptor.js';
import type { Upcaster } from '../../domain/descriptor.js';
import { HERE } from '../../execution/test-support/accounts.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { type Ledger, ledgerMigrations, until } from '../test-support/ledger.js';
import { testLedger } from '../test-support/test-ledger.js';

/** The release in which amounts are a hundred times as large. */
function later(upcaster: Upcaster): (actions: readonly ActionDescriptor[]) => readonly ActionDescriptor[] {
  return (actions) =>
    actions.map((each) => (each.name === 'Credit' ? { ...each, version: 2, upcasters: [upcaster] } : each));
}

const inCents = later((params) => ({ ...params, amount: String(Number(params['amount']) * 100) }));

function ledgerOn(databases: DatabaseRegistry, change = later((params) => params)): Ledger {
  return testLedger(databases, { change, limits: { leaseMs: 2_000, surveyMs: 50 } });
}

function makeShards(harness: DatabaseHarness): Promise<DatabaseRegistry> {
  return harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
}

function done({ events }: Ledger, count: number): Promise<void> {
  return until(async () => (await events.schedules.list({ state: 'done' })).length === count);
}

const NOW = new Date(0);

describeOnEachAdapter('Params of scheduled actions', (harness) => {
  test('are upcast to the version that the process knows', async () => {
    const databases = await makeShards(harness);
    const before = ledgerOn(databases, (actions) => actions);
    const account = await before.open();
    await before.creditLater(account, 7, NOW);
    const after = ledgerOn(databases, inCents);
    await after.creditLater(account, 1, NOW);
    expect((await after.events.schedules.list()).map(({ paramsVersion }) => paramsVersion)).toEqual([1, 2]);
    after.events.start();
    await done(after, 2);
    expect(await after.balance(account)).toBe('701');
  });

  test('take effect once, although the previous process knew another version', async () => {
    const databases = await makeShards(harness);
    const before = ledgerOn(databases, (actions) => actions);
    const account = await before.open();
    await before.creditLater(account, 7, NOW);
    before.events.start();
    await done(before, 1);
    await before.events.stop();
    // Simulates a kill between the effect and the update of the schedule's row.
    await before.rows("UPDATE eventlog.schedules SET state = 'running', completed_date = NULL");
    const after = ledgerOn(databases, inCents);
    after.events.start();
    await done(after, 1);
    expect(await after.balance(account)).toBe('7');
  });

  test('of a newer version are left to a newer process, and the others run', async () => {
    const databases = await makeShards(harness);
    const after = ledgerOn(databases, inCents);
    const before = ledgerOn(databases, (actions) => actions);
    const account = await before.open();
    await after.creditLater(account, 3, NOW);
    await before.creditLater(account, 5, NOW);
    before.events.start();
    await done(before, 1);
    await until(() => before.warnings.some((each) => each.includes('is newer than this process knows')));
    expect(before.warnings[0]).toContain('waits: version 2 of the params of Credit');
    expect(await before.balance(account)).toBe('5');
    expect(await before.events.schedules.list()).toMatchObject([{ state: 'pending', attempts: 0 }]);
    after.events.start();
    await done(after, 2);
    expect(await after.balance(account)).toBe('8');
  });

  test('of a newer version are left alone although the process that ran them has gone', async () => {
    const databases = await makeShards(harness);
    const after = ledgerOn(databases, inCents);
    const before = ledgerOn(databases, (actions) => actions);
    const account = await before.open();
    await after.creditLater(account, 3, NOW);
    await before.rows("UPDATE eventlog.schedules SET state = 'running'");
    before.events.start();
    await until(() => before.warnings.some((each) => each.includes('is newer than this process knows')));
    expect(await before.events.schedules.list()).toMatchObject([{ state: 'running', attempts: 0 }]);
    expect(await before.balance(account)).toBe('0');
    after.events.start();
    await done(after, 1);
    expect(await after.balance(account)).toBe('3');
  });

  test('fail with the error of their upcaster, and run when the upcaster is fixed', async () => {
    const databases = await makeShards(harness);
    const before = ledgerOn(databases, (actions) => actions);
    const account = await before.open();
    await before.creditLater(account, 7, NOW);
    await before.rows('UPDATE eventlog.schedules SET attempts = 11');
    const broken = ledgerOn(
      databases,
      later(() => {
        throw new TypeError('no cents');
      }),
    );
    broken.events.start();
    await until(async () => (await broken.events.schedules.list({ state: 'failed' })).length === 1);
    await broken.events.stop();
    const [failed] = await broken.events.schedules.list();
    expect(failed).toMatchObject({
      errorCode: 'FW_VALIDATION',
      errorMessage: 'The upcaster of the params of Credit from version 1 has failed: no cents',
    });
    const mended = ledgerOn(databases, inCents);
    await mended.events.schedules.retry(String(failed?.id));
    mended.events.start();
    await done(mended, 1);
    expect(await mended.balance(account)).toBe('700');
  });
});
