import { expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { HERE } from '../../execution/test-support/accounts.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { EventOperations } from '../event-operations.js';
import { mortalDatabases } from '../test-support/faulty-databases.js';
import { handlerOf, type Ledger, ledgerMigrations, until } from '../test-support/ledger.js';
import { testLedger } from '../test-support/test-ledger.js';

const TOTALS = {
  name: '0009_totals',
  up: 'create table totals (account text primary key, credits int not null)',
};
/** 1: every statement. */
const STRIDE = Number(process.env['FW_PROOF_STRIDE'] ?? 7);
const EVENTS = 3;

const handler = handlerOf(
  'Totals',
  async ({ transaction, modelId }) => {
    const text = `INSERT INTO totals VALUES ($1, 1)
      ON CONFLICT (account) DO UPDATE SET credits = totals.credits + 1`;
    await transaction.query({ text, values: [modelId] });
  },
  { transactional: true, projection: ['totals'], retryDelayMs: 1 },
);

describeOnEachAdapter('The rebuild of a projection', (harness) => {
  const start = (databases: DatabaseRegistry): Ledger => {
    const ledger = testLedger(databases, { handlers: [handler], limits: { leaseMs: 500, surveyMs: 50 } });
    ledger.events.start();
    return ledger;
  };

  test('ends with the right rows, at whichever statement the process dies that makes them', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: [...ledgerMigrations, TOTALS] });
    const operations = new EventOperations(databases);
    const setup = testLedger(databases);
    const account = await setup.open();
    const totals = async (): Promise<unknown> => (await setup.rows('SELECT credits FROM totals'))[0]?.[0];
    for (let nr = 0; nr < EVENTS; nr += 1) await setup.credit(account);
    const first = start(databases);
    await until(async () => (await totals()) === EVENTS);
    await first.events.stop(0);
    const isOver = async (): Promise<boolean> => (await operations.rebuilds('Totals')).length === 0;
    let statement = 1;
    for (let survived = false; !survived; statement += STRIDE) {
      for (const after of [false, true]) {
        await setup.rows('UPDATE totals SET credits = 100');
        await operations.rebuild('Totals');
        const mortal = mortalDatabases(databases);
        mortal.arm(statement, after);
        const dying = start(mortal.databases);
        await until(async () => mortal.dead() || (await isOver()));
        survived = !mortal.dead();
        await dying.events.stop(0);
        const next = start(databases);
        await until(isOver);
        await next.events.stop(0);
        expect(await totals()).toBe(EVENTS);
        expect(await setup.rows("SELECT FROM pg_namespace WHERE nspname LIKE 'fw_rebuild%'")).toEqual([]);
      }
    }
    expect(statement).toBeGreaterThan(10);
  }, 600_000);
});
