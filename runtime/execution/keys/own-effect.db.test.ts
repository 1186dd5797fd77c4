import { beforeEach, expect, test } from 'vitest';
import { describeOn, describeOnEachAdapter } from '../../../test/databases/vitest.js';
import type { ExecutionConfigurationBuilder } from '../../action/execution-configuration.js';
import { Decimal } from '../../domain/decimal.js';
import { ShardedId } from '../../domain/id.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { Account, newAccount } from '../../domain/test-support/account.js';
import { CommitOutcomeUnknownError, RefusedError, ShardUnavailableError } from '../../errors.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { type Interceptor, wrappedRegistry } from '../../sharding/test-support/wrapped-registry.js';
import { configure, HERE, makeAccounts, openBank, type TestBank, THERE } from '../test-support/accounts.js';

/** One process: its executor shares only the databases with others. */
class Process {
  readonly bank: TestBank;

  constructor(databases: DatabaseRegistry, intercept: Interceptor = (_, send) => send()) {
    this.bank = openBank(wrappedRegistry(databases, intercept));
  }

  /** Debits 10 if the balance suffices, under the key `k`. */
  spend(
    account: string,
    change: (builder: ExecutionConfigurationBuilder) => unknown = () => {},
  ): Promise<Account> {
    const builder = configure().idempotencyKey('k').timeoutMs(20_000);
    change(builder);
    return this.bank.run(async (plan, accounts) => {
      const found = await accounts.getById(account);
      if (found.balance.lessThan(10)) throw new RefusedError('Insufficient balance');
      return plan.update(found.credit(new Decimal(-10)));
    }, builder.build());
  }
}

const isLookUp: Guard = ({ name }) => name === 'fw_read_key';
const isFlush: Guard = ({ text }) => text.includes("'committed'") && text.includes('INSERT INTO');
const isFence: Guard = ({ name }) => name === 'fw_fence';
type Guard = (statement: Parameters<Interceptor>[0]) => boolean;

const lost = (): DriverFailure => new DriverFailure('lost', { phase: 'in-flight' });

/** Runs a function once: after the first such statement was answered, or before it is sent. */
function once(when: 'after' | 'before', guard: Guard, work: () => Promise<unknown>): Interceptor {
  let isDone = false;
  return async (statement, send) => {
    if (isDone || !guard(statement)) return send();
    isDone = true;
    if (when === 'before') await work();
    const rows = await send();
    if (when === 'after') await work();
    return rows;
  };
}

describeOnEachAdapter('A repeat under a key that another process uses at the same time', (harness) => {
  let databases: DatabaseRegistry;
  let first: Process;
  let account: string;

  async function openAccount(shard: ShardIdentifier): Promise<void> {
    account = await first.bank.open(shard, 10);
  }

  beforeEach(async () => {
    databases = await makeAccounts(harness);
    first = new Process(databases);
    await openAccount(HERE);
  });

  /** The first execution commits between the repeat's key look-up and its `perform`. */
  const afterLookUp = (work: () => Promise<unknown> = () => first.spend(account)): Process =>
    new Process(databases, once('after', isLookUp, work));

  test.each([HERE, THERE])('gets the earlier result, not a refusal by its own effect (%s)', async (shard) => {
    await openAccount(shard);
    const reports: unknown[] = [];
    const repeat = await afterLookUp().spend(account, (builder) =>
      builder.onReport(({ replayed, errorCode }) => reports.push([replayed, errorCode])),
    );
    expect(repeat.balance.toFixed()).toBe('0');
    expect(reports).toEqual([[true, undefined]]);
    expect(await first.bank.balance(account)).toBe('0');
  });

  test('gets the earlier result, although the look-up behind its own plan is cut off', async () => {
    let looks = 0;
    const spendFirst = once('before', isFlush, () => first.spend(account));
    const repeat = new Process(databases, (statement, send, database) => {
      if (isLookUp(statement) && ++looks === 2) return Promise.reject(lost());
      return spendFirst(statement, send, database);
    });
    expect((await repeat.spend(account)).version).toBe(2);
    expect(looks).toBe(3);
  });

  test('is not refused because of the version that its own request created', async () => {
    const id = ShardedId.of(Account, account);
    const ifFirst = (builder: ExecutionConfigurationBuilder): unknown => builder.ifVersion(id, 1);
    const repeat = await afterLookUp(() => first.spend(account, ifFirst)).spend(account, ifFirst);
    expect(repeat.version).toBe(2);
  });

  test('is not stale because of its own request’s effect', async () => {
    const intercept = once('before', isFlush, () => first.spend(account));
    const repeat = new Process(databases, intercept).spend(account, (builder) => builder.maximumAttempts(1));
    expect((await repeat).version).toBe(2);
  });

  test('does not collide with the row that its own request added', async () => {
    const id = ShardedId.generate(Account, HERE).getValue();
    const name = ({ bank }: Process): Promise<Account> =>
      bank.run(
        (plan) => plan.add(newAccount(new Decimal(1), HERE).id(ShardedId.of(Account, id)).build()),
        configure().idempotencyKey('k').build(),
      );
    expect((await name(afterLookUp(() => name(first)))).id.getValue()).toBe(id);
  });

  test('returns a result that becomes known after a time-out', async () => {
    let land = (): Promise<unknown> => Promise.reject(new Error('Nothing was sent'));
    const slow = new Process(databases, async (statement, send) => {
      if (isFence(statement)) throw lost();
      if (!isFlush(statement)) return send();
      land = send;
      throw lost();
    });
    const unknown = slow.spend(account, (builder) => builder.timeoutMs(1_000));
    await expect(unknown).rejects.toThrow(CommitOutcomeUnknownError);
    expect((await afterLookUp(() => land()).spend(account)).version).toBe(2);
  });

  test('is refused if the key is free, and the key stays free', async () => {
    const other = afterLookUp(() => first.spend(account, (builder) => builder.idempotencyKey('other')));
    await expect(other.spend(account)).rejects.toThrow(RefusedError);
    await first.bank.credit(account, 15);
    expect((await other.spend(account)).balance.toFixed()).toBe('5');
  });

  test('is not refused while the state of the key is unknown', async () => {
    let looks = 0;
    const blind = new Process(databases, async (statement, send) => {
      if (isLookUp(statement) && ++looks > 1)
        throw new DriverFailure('down', { phase: 'not-sent', reason: 'unreachable' });
      return send();
    });
    await first.spend(account, (builder) => builder.idempotencyKey('other'));
    await expect(blind.spend(account)).rejects.toThrow(ShardUnavailableError);
    expect(looks).toBe(2);
  });

  test('does not look the key up again after an error that is not a refusal', async () => {
    let looks = 0;
    const lone = new Process(databases, async (statement, send) => {
      if (isLookUp(statement)) looks += 1;
      if (isFlush(statement))
        throw new DriverFailure('full', { phase: 'not-sent', reason: 'pool-exhausted' });
      return send();
    });
    await expect(lone.spend(account)).rejects.toMatchObject({ code: 'FW_SHARD_BUSY' });
    expect(looks).toBe(1);
  });
});

describeOn('postgresql', 'The same key sent to two processes at once', (harness) => {
  test('has one effect and two answers', async () => {
    const databases = await makeAccounts(harness);
    const [one, other] = [new Process(databases), new Process(databases)];
    for (let round = 0; round < 60; round += 1) {
      const account = await one.bank.open(HERE, 10);
      const both = [one, other].map((process) =>
        process.spend(account, (builder) => builder.idempotencyKey(`round-${round}`)),
      );
      const balances = (await Promise.all(both)).map(({ balance }) => balance.toFixed());
      expect(balances).toEqual(['0', '0']);
    }
  });
});
