import { expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { Decimal } from '../../domain/decimal.js';
import {
  ALICE,
  CreditAction,
  configure,
  HERE,
  makeBank,
  THERE,
  type Work,
} from '../test-support/accounts.js';

interface Tables {
  readonly accounts: { readonly id: string };
}

const MANY = 120;
const failed = async (work: readonly Promise<unknown>[]): Promise<readonly unknown[]> =>
  (await Promise.allSettled(work)).filter(({ status }) => status === 'rejected');

describeOnEachAdapter('Many executions of one model whose states others cannot see', (harness) => {
  test('are all applied under keys of another shard, beside others without a key', async () => {
    const bank = await makeBank(harness);
    const account = await bank.open(THERE, 0);
    const params = { account, amount: new Decimal(1) };
    const credits = Array.from({ length: MANY }, (_, count) => {
      const configuration = configure().timeoutMs(30_000);
      if (count % 3 > 0) configuration.idempotencyKey(`credit-${count}`, { home: HERE });
      return bank.executor.execute(ALICE, CreditAction, params, configuration.build());
    });
    expect(await failed(credits)).toEqual([]);
    expect(await bank.balance(account)).toBe(String(MANY));
  });

  test('are all applied after queries', async () => {
    const bank = await makeBank(harness);
    const account = await bank.open(THERE, 0);
    // Does not chain, because of its query.
    const work: Work = async (plan, accounts) => {
      await bank.gateways.queries<Tables>(THERE).selectFrom('accounts').select('id').limit(1).execute();
      plan.update((await accounts.getById(account)).credit(new Decimal(1)));
    };
    const credits = Array.from({ length: MANY }, () => bank.run(work, configure().timeoutMs(30_000).build()));
    expect(await failed(credits)).toEqual([]);
    expect(await bank.balance(account)).toBe(String(MANY));
  });
});
