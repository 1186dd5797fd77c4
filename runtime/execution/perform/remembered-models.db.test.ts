import { beforeEach, expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import type { ExecutionConfigurationBuilder } from '../../action/execution-configuration.js';
import type { AttemptEnd } from '../../action/execution-report.js';
import { systemClock } from '../../domain/clock.js';
import { Decimal } from '../../domain/decimal.js';
import { ShardedId } from '../../domain/id.js';
import { Account, accountModel, newAccount } from '../../domain/test-support/account.js';
import {
  CrossShardException,
  PreconditionFailedError,
  RefusedError,
  UniqueViolationError,
} from '../../errors.js';
import { Repository } from '../../persistence/read/repository.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { countingRegistry } from '../../sharding/test-support/counting-registry.js';
import { wrappedRegistry } from '../../sharding/test-support/wrapped-registry.js';
import {
  accountMigrations,
  configure,
  HERE,
  openBank,
  type TestBank,
  THERE,
  type Work,
} from '../test-support/accounts.js';

const credit =
  (id: string, amount: number): Work =>
  async (plan, accounts) =>
    plan.update((await accounts.getById(id)).credit(new Decimal(amount)));

/** Returns the balance of one account, and changes another one. */
const seeing =
  (id: string, changed: string): Work =>
  async (plan, accounts) => {
    const seen = await accounts.getById(id);
    plan.update((await accounts.getById(changed)).credit(new Decimal(1)));
    return seen.balance.toFixed();
  };

/** A withdrawal, which is refused without enough money. */
const withdraw =
  (id: string, amount: number): Work =>
  async (plan, accounts) => {
    const account = await accounts.getById(id);
    if (account.balance.lessThan(amount)) throw new RefusedError(`Only ${account.balance.toFixed()}`);
    return plan.update(account.credit(new Decimal(-amount)));
  };

class AccountLists extends Repository<Account> {
  all(): Promise<readonly Account[]> {
    return this.findMany({ limit: 100 });
  }
}

describeOnEachAdapter('A model that a process remembers', (harness) => {
  /** Executors with a memory each, as in several processes. */
  let here: Process;
  let other: Process;
  let sent: readonly string[];
  let clear: () => void;
  let sql: (text: string) => Promise<unknown>;
  /** Whether the next change of an account is applied, and in doubt. */
  let doubted: boolean;

  class Process {
    readonly bank: TestBank;
    readonly ends: AttemptEnd[] = [];

    constructor(databases: DatabaseRegistry) {
      this.bank = openBank(databases);
    }

    run(work: Work, configuration: ExecutionConfigurationBuilder = configure()): Promise<unknown> {
      configuration.timeoutMs(60_000).onReport(({ attempts }) => {
        this.ends.push(...attempts.map(({ end }) => end));
      });
      return this.bank.run(work, configuration.build());
    }

    /** An account with this balance, which this process remembers at version 2. */
    async known(balance: number, shard = HERE): Promise<string> {
      const account = (await this.run((plan) =>
        plan.add(
          newAccount(new Decimal(balance - 1), shard)
            .updatedDate(systemClock.now())
            .build(),
        ),
      )) as Account;
      const id = account.id.getValue();
      await this.run(credit(id, 1));
      this.ends.length = 0;
      clear();
      return id;
    }
  }

  const reads = (): number => sent.filter((text) => /^SELECT .* FROM "accounts"/.test(text)).length;
  const balance = (process: Process, id: string): Promise<string> => process.bank.balance(id);

  beforeEach(async () => {
    const databases = await harness.makeShards({
      shards: [HERE, THERE],
      migrations: [
        ...accountMigrations,
        { name: '0002_names', up: 'create unique index one_nickname on accounts (nickname)' },
      ],
    });
    doubted = false;
    const doubting = wrappedRegistry(databases, async ({ text }, send) => {
      const rows = await send();
      if (!doubted || !text.includes('UPDATE "accounts"')) return rows;
      doubted = false;
      // As when the wait for a standby was cancelled: the connection is not lost.
      throw new DriverFailure('not replicated', { phase: 'in-flight' });
    });
    const { registry, counts } = countingRegistry(doubting);
    sent = counts.texts;
    clear = () => counts.texts.splice(0);
    sql = (text) => databases.database(HERE).query({ text, values: [] });
    here = new Process(registry);
    other = new Process(registry);
    // Opens the connections, each of which makes the processes forget.
    await Promise.all([other.known(0), other.known(0), other.known(0, THERE)]);
  });

  test('is changed in one statement, without a read', async () => {
    const id = await here.known(10);
    for (let round = 0; round < 3; round += 1) await here.run(credit(id, 1));
    expect(sent.filter((text) => text.includes('accounts'))).toHaveLength(3);
    expect([reads(), here.ends]).toEqual([0, ['applied', 'applied', 'applied']]);
    expect(await balance(here, id)).toBe('13');
    const { hit, disproven } = here.bank.executor.remembered;
    expect({ hit, disproven }).toEqual({ hit: 3, disproven: 0 });
  });

  test('is changed once by each of many concurrent executions', async () => {
    const id = await here.known(10);
    await Promise.all(Array.from({ length: 20 }, () => here.run(credit(id, 1))));
    expect([reads(), await balance(here, id)]).toEqual([0, '30']);
  });

  test('is read again when another process has changed it, without a pause and without counting', async () => {
    const id = await here.known(10);
    await other.run(credit(id, 5));
    const once = configure().maximumAttempts(1);
    expect(((await here.run(credit(id, 1), once)) as Account).balance.toFixed()).toBe('16');
    expect(here.ends).toEqual(['unconfirmed', 'applied']);
    expect(here.bank.executor.remembered.disproven).toBe(1);
  });

  test('is read again when its row was changed by hand, even without a new version', async () => {
    const [written, read, untouched] = [await here.known(10), await other.known(10), await here.known(10)];
    await here.run(async (_, accounts) => void (await accounts.getById(read)));
    await sql(`update accounts set balance = 50 where id in ('${written}', '${read}')`);
    const ids = [written, written, read, untouched];
    await Promise.all(ids.map((id) => here.run(credit(id, 1), configure().maximumAttempts(1))));
    expect(await Promise.all(ids.map((id) => balance(here, id)))).toEqual(['52', '52', '51', '11']);
  });

  test('is read again after a write in doubt, whose transaction is not known', async () => {
    const id = await here.known(10);
    doubted = true;
    await here.run(credit(id, 1));
    await sql(`update accounts set balance = 50 where id = '${id}'`);
    await here.run(credit(id, 1));
    expect(await balance(here, id)).toBe('51');
  });

  test('is no reason for a decision if its row was changed by hand and is only read', async () => {
    const [limit, id] = [await here.known(10), await here.known(1)];
    await sql(`update accounts set balance = 3 where id = '${limit}'`);
    const fill: Work = async (plan, accounts) => {
      const amount = (await accounts.getById(limit)).balance;
      return plan.update((await accounts.getById(id)).credit(amount));
    };
    await here.run(fill);
    expect([here.ends, await balance(here, id)]).toEqual([['unconfirmed', 'applied'], '4']);
  });

  test('is no reason for a decision if its row is read once more, in a later state', async () => {
    const id = await here.known(10);
    await other.run(credit(id, 90));
    const lists = new AccountLists(here.bank.gateways, accountModel);
    const double: Work = async (plan, accounts) => {
      const { balance: first } = await accounts.getById(id);
      // Reads after a query come from the database.
      await lists.all();
      return plan.update((await accounts.getById(id)).credit(first));
    };
    await here.run(double);
    expect([here.ends, await balance(here, id)]).toEqual([['unconfirmed', 'applied'], '200']);
  });

  test('neither refuses nor allows what only the state of another process decides', async () => {
    const id = await here.known(10);
    await other.run(credit(id, 90));
    await here.run(withdraw(id, 60));
    await other.run(withdraw(id, 40));
    await expect(here.run(withdraw(id, 1))).rejects.toThrow('Only 0');
    expect(here.ends.at(-1)).toBe('failed');
    expect(await balance(here, id)).toBe('0');
  });

  test('is no reason to refuse a value that does not fit its column', async () => {
    const id = await here.known(100);
    await other.run(credit(id, -90));
    const name: Work = async (plan, accounts) => {
      const account = await accounts.getById(id);
      return plan.update(
        account
          .copy()
          .nickname(account.balance.greaterThan(50) ? 'rich\0' : 'poor')
          .build(),
      );
    };
    expect(await here.run(name)).toHaveProperty('nickname', 'poor');
    expect(here.ends).toEqual(['unconfirmed', 'applied']);
  });

  test('does not decide about If-Match', async () => {
    const id = await here.known(10);
    await other.run(credit(id, 1));
    const at = (version: number): Promise<unknown> =>
      here.run(credit(id, 1), configure().ifVersion(ShardedId.of(Account, id), version));
    await at(3);
    await other.run(credit(id, 1));
    await expect(at(4)).rejects.toThrow(PreconditionFailedError);
    await at(5);
  });

  test.each(['changed by another process', 'unchanged'])(
    'is no answer of an action that stages nothing (%s)',
    async (state) => {
      const id = await here.known(10);
      const isChanged = state !== 'unchanged';
      if (isChanged) await other.run(credit(id, 5));
      clear();
      const read: Work = async (_, accounts) => (await accounts.getById(id)).balance.toFixed();
      expect([await here.run(read), reads()]).toEqual([isChanged ? '15' : '10', 1]);
      expect(here.ends).toEqual(['unconfirmed', 'nothing-staged']);
    },
  );

  test('is forgotten when an execution without chaining changes it', async () => {
    const id = await here.known(10);
    await here.run(credit(id, 1), configure().chaining(false));
    await here.run(credit(id, 1));
    expect([reads(), here.ends]).toEqual([2, ['applied', 'applied']]);
  });

  test('is part of a result only if the statement has proven it', async () => {
    const [id, changed] = [await here.known(10), await here.known(1)];
    await other.run(credit(id, 5));
    here.ends.length = 0;
    expect(await here.run(seeing(id, changed))).toBe('15');
    expect(here.ends).toEqual(['unconfirmed', 'applied']);
  });

  test('is read again by an action that does not change it, because plans that expect a row wait for each other', async () => {
    const [id, changed] = [await here.known(10), await here.known(1)];
    clear();
    expect([await here.run(seeing(id, changed)), reads()]).toEqual(['10', 0]);
    expect([await here.run(seeing(id, changed)), reads() > 0]).toEqual(['10', true]);
  });

  test('is not used by a plan of several shards', async () => {
    const [from, to] = [await here.known(10), await here.known(0, THERE)];
    await other.run(credit(to, 5));
    const move: Work = async (plan, accounts) => {
      plan.update((await accounts.getById(from)).credit(new Decimal(-1)));
      plan.update((await accounts.getById(to)).credit(new Decimal(1)));
    };
    await here.run(move, configure().allowCrossShard(true));
    expect([await balance(here, from), await balance(here, to)]).toEqual(['9', '6']);
    await expect(here.run(move)).rejects.toThrow(CrossShardException);
    await here.run(credit(to, 0));
    await other.run(credit(to, 5));
    expect(await here.run(seeing(to, from))).toBe('11');
  });

  test('does not let a constraint refuse what follows from an old state', async () => {
    const id = await here.known(10);
    const addNamed = (name: string): Work => {
      return (plan) => plan.add(newAccount(new Decimal(0), HERE).nickname(name).build());
    };
    await other.run(addNamed('10'));
    const addNext: Work = async (plan, accounts) => {
      const account = await accounts.getById(id);
      plan.expect(account);
      return addNamed(account.balance.toFixed())(plan, accounts);
    };
    await other.run(credit(id, 5));
    await here.run(addNext);
    expect(here.ends.slice(-2)).toEqual(['unconfirmed', 'applied']);
    await expect(here.run(addNext)).rejects.toThrow(UniqueViolationError);
  });

  test('is not remembered before its commit, nor after a chain that failed', async () => {
    const id = await here.known(999_990);
    const chain = [1, 100, 1].map((amount) => here.run(credit(id, amount)));
    const outcomes = await Promise.allSettled(chain);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(((await here.run(credit(id, 1))) as Account).balance.toFixed()).toBe('999993');
    expect(await balance(other, id)).toBe('999993');
  });

  test('is forgotten with its connections, because they may have led to another server', async () => {
    const id = await here.known(10);
    const database = here.bank.databases.database(HERE);
    const sessions = await Promise.all(
      Array.from({ length: database.stats().open }, () => database.acquire()),
    );
    for (const session of sessions) session.destroy();
    await here.run(credit(id, 1));
    expect(reads()).toBe(1);
    await here.run(credit(id, 1));
    expect(reads()).toBe(1);
  });

  test('is read again if its table changes what is stored', async () => {
    await sql(`create function add_one() returns trigger language plpgsql as
      $$ begin new.balance = new.balance + 1; return new; end $$`);
    await sql('create trigger plus_one before update on accounts for each row execute function add_one()');
    const id = await here.known(10);
    await here.run(credit(id, 1));
    await here.run(credit(id, 1));
    expect([reads(), await balance(here, id)]).toEqual([2, '15']);
  });

  test('is not guessed for a while when other processes change it often', async () => {
    const id = await here.known(10);
    for (let round = 0; round < 12; round += 1) {
      await other.run(credit(id, 1));
      await here.run(credit(id, 1));
    }
    expect(here.ends.filter((end) => end === 'unconfirmed').length).toBeLessThanOrEqual(3);
    expect(await balance(here, id)).toBe('34');
  });
});
