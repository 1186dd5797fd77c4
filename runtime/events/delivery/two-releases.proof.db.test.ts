import { expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import type { HandlerSettings } from '../../action/markers.js';
import { HERE } from '../../execution/test-support/accounts.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { EventOperations } from '../event-operations.js';
import { handlerOf, type Ledger, ledgerMigrations, until } from '../test-support/ledger.js';
import { testLedger } from '../test-support/test-ledger.js';

const limits = { leaseMs: 2_000, surveyMs: 50 };

/** A release with a handler, and what it has received. */
function release(databases: DatabaseRegistry, settings: HandlerSettings = {}): Ledger & { seen: string[] } {
  const seen: string[] = [];
  const handler = handlerOf('Statistics', ({ id }) => void seen.push(id), settings);
  const ledger = testLedger(databases, { handlers: [handler], limits });
  ledger.events.start();
  return { ...ledger, seen };
}

async function waitingFor({ events }: Ledger): Promise<string | undefined> {
  return (await events.lag(HERE))[0]?.consumers.find(({ name }) => name === 'Statistics')?.waitingFor;
}

async function holder({ rows }: Ledger): Promise<unknown> {
  return (await rows("SELECT holder FROM eventlog.consumers WHERE name = 'Statistics'"))[0]?.[0];
}

describeOnEachAdapter('Two releases side by side', (harness) => {
  test('leave the checkpoint to the handler that has become transactional, until that is narrowed', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const before = release(databases);
    const account = await before.open();
    await before.credit(account);
    await until(() => before.seen.length === 1);
    const first = await holder(before);
    const after = release(databases, { transactional: true });
    await until(async () => {
      const now = await holder(after);
      return now !== null && now !== first;
    });
    await before.credit(account);
    await until(() => after.seen.length === 1);
    await after.events.stop();
    await before.credit(account);
    await until(async () => (await waitingFor(before))?.includes('transactional') === true);
    expect([before.seen.length, after.seen.length]).toEqual([1, 1]);
    expect(await new EventOperations(databases).narrow('Statistics', 'transactional')).toBe(1);
    await until(() => before.seen.length === 2);
  });

  test('leave an unknown scheduled action to the process that knows it, without counting attempts', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const without = testLedger(databases, {
      limits,
      change: (actions) => actions.filter(({ name }) => name !== 'Credit'),
    });
    const after = testLedger(databases, { limits });
    const account = await after.open();
    await after.creditLater(account, 3, new Date(0));
    without.events.start();
    await until(() =>
      without.warnings.some((each) => each.includes('does not know the scheduled action Credit')),
    );
    expect(await after.events.schedules.list()).toMatchObject([{ state: 'pending', attempts: 0 }]);
    after.events.start();
    await until(async () => (await after.events.schedules.list({ state: 'done' })).length === 1);
    expect(await after.balance(account)).toBe('3');
  });
});
