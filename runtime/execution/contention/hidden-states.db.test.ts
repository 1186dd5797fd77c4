import { expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { Action } from '../../action/action.js';
import { ActionRegistry } from '../../action/action-registry.js';
import { ExecutionConfiguration } from '../../action/execution-configuration.js';
import { systemClock } from '../../domain/clock.js';
import { Decimal } from '../../domain/decimal.js';
import { ActionExecutor } from '../action-executor.js';
import {
  AccountRepository,
  ALICE,
  accountMigrations,
  CreditAction,
  HERE,
  openBank,
  THERE,
} from '../test-support/accounts.js';

const MANY = 120;
const settings = () => ExecutionConfiguration.Builder.executionConfiguration().timeoutMs(30_000);

class AccountQueries extends AccountRepository {
  async hasAny(): Promise<boolean> {
    const rows = await this.queries(THERE).selectFrom('accounts').select('id').limit(1).execute();
    return rows.length > 0;
  }
}

/** Does not chain, because of its query. */
class QueryAndCreditAction extends Action<{ readonly account: string }, void> {
  readonly #accounts: AccountQueries;

  constructor(accounts: AccountQueries) {
    super(systemClock);
    this.#accounts = accounts;
  }

  protected async perform(_: unknown, { account }: { readonly account: string }): Promise<void> {
    if (!(await this.#accounts.hasAny())) return;
    this.plan().update((await this.#accounts.getById(account)).credit(new Decimal(1)));
  }
}

const failed = async (work: readonly Promise<unknown>[]): Promise<readonly unknown[]> =>
  (await Promise.allSettled(work)).filter(({ status }) => status === 'rejected');

describeOnEachAdapter('Many executions of one model whose states others cannot see', (harness) => {
  test('are all applied under keys of another shard, beside others without a key', async () => {
    const bank = openBank(await harness.makeShards({ shards: [HERE, THERE], migrations: accountMigrations }));
    const account = await bank.open(THERE, 0);
    const params = { account, amount: new Decimal(1) };
    const credits = Array.from({ length: MANY }, (_, count) => {
      const configuration = settings();
      if (count % 3 > 0) configuration.idempotencyKey(`credit-${count}`, { home: HERE });
      return bank.executor.execute(ALICE, CreditAction, params, configuration.build());
    });
    expect(await failed(credits)).toEqual([]);
    expect(await bank.balance(account)).toBe(String(MANY));
  });

  test('are all applied after queries', async () => {
    const bank = openBank(await harness.makeShards({ shards: [HERE, THERE], migrations: accountMigrations }));
    const account = await bank.open(THERE, 0);
    const { gateways } = bank;
    const create = (): QueryAndCreditAction => new QueryAndCreditAction(new AccountQueries(gateways));
    const registry = new ActionRegistry([
      { name: 'QueryAndCredit', actionClass: QueryAndCreditAction, params: [], create },
    ]);
    const executor = new ActionExecutor({ registry, gateways, models: [] });
    const credits = Array.from({ length: MANY }, () =>
      executor.execute(ALICE, QueryAndCreditAction, { account }, settings().build()),
    );
    expect(await failed(credits)).toEqual([]);
    expect(await bank.balance(account)).toBe(String(MANY));
  });
});
