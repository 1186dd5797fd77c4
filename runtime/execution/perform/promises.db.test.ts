import { expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { systemEnvironment } from '../../concurrency/execution-environment.js';
import { Decimal } from '../../domain/decimal.js';
import { RefusedError } from '../../errors.js';
import { seededIds } from '../../testing/seeded-ids.js';
import { VirtualClock } from '../../testing/virtual-clock.js';
import {
  ALICE,
  CreditAction,
  configure,
  HERE,
  makeAccounts,
  makeBank,
  openBank,
  type TestBank,
  THERE,
} from '../test-support/accounts.js';

describeOnEachAdapter('A model that is persisted', (harness) => {
  test('emits no event when it is staged again', async () => {
    const bank = await makeBank(harness);
    const events = (): Promise<unknown> =>
      bank.rows(HERE, 'select model_version::int4, event_type from eventlog.events order by position');
    const credited = await bank.credit(await bank.open(HERE, 1), 2);
    expect(await events()).toEqual([[2, 'AccountCredited']]);
    const again = await bank.run((plan) => plan.update(credited));
    expect(again.version).toBe(3);
    expect(await events()).toEqual([[2, 'AccountCredited']]);
    await bank.run((plan) => plan.update(again.credit(new Decimal(1))));
    expect(await events()).toMatchObject([{ 0: 2 }, { 0: 4 }]);
  });
});

describeOnEachAdapter('Two runs with one seed and a virtual clock', (harness) => {
  /** All rows that one run leaves, without values that the server generates. */
  async function leftBy(seed: number): Promise<readonly (readonly unknown[])[]> {
    // The server's clock decides when keys expire.
    const clock = new VirtualClock('2090-01-01T00:00:00Z');
    const restore = seededIds(seed, clock);
    try {
      const databases = await makeAccounts(harness);
      const bank = openBank(databases, { ...systemEnvironment(clock), random: () => 0.5 });
      await runScript(bank, clock);
      const tables = ['accounts', 'eventlog.events', 'eventlog.actions', 'eventlog.idempotency_keys'];
      // Events and keys have dates by the server's clock; models and actions by the process's.
      const byServer = `array['transaction_id', 'created_date', 'expires_date']`;
      const rows = [HERE, THERE].flatMap((shard) =>
        tables.map((table) => {
          const left = table === 'accounts' ? 'to_jsonb(t)' : `to_jsonb(t) - ${byServer}`;
          return bank.rows(shard, `select ${left} as row from ${table} as t order by 1`);
        }),
      );
      return await Promise.all(rows);
    } finally {
      restore();
    }
  }

  async function runScript(bank: TestBank, clock: VirtualClock): Promise<void> {
    const [here, there] = [await bank.open(HERE, 10), await bank.open(THERE, 20)];
    clock.advance(1_500);
    await bank.credit(here, 3);
    const once = configure().idempotencyKey('once').build();
    const params = { account: here, amount: new Decimal(4) };
    for (let time = 0; time < 2; time += 1) await bank.executor.execute(ALICE, CreditAction, params, once);
    await expect(bank.credit(here, -1)).rejects.toThrow(RefusedError);
    clock.advance(60_000);
    await bank.move(here, 5, there);
  }

  test('leave identical rows, and different rows with another seed', async () => {
    const first = await leftBy(7);
    expect(first.flat().length).toBeGreaterThan(10);
    expect(await leftBy(7)).toEqual(first);
    expect(await leftBy(8)).not.toEqual(first);
  });
});
