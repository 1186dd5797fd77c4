import { expect, test, vi } from 'vitest';
import { describeOn, describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { type ExecutionEnvironment, systemEnvironment } from '../../concurrency/execution-environment.js';
import { Decimal } from '../../domain/decimal.js';
import { CommitOutcomeUnknownError, RowBusyError, StaleModelError } from '../../errors.js';
import { whileHeld } from '../../sharding/test-support/statements.js';
import { wrappedRegistry } from '../../sharding/test-support/wrapped-registry.js';
import { ALICE, CreditAction, configure, HERE, makeAccounts, openBank } from '../test-support/accounts.js';

describeOnEachAdapter('An execution whose row another process also changes', (harness) => {
  /** An account with a balance of 5. Each credit in the test adds 2; a rival updates it first, `times.left` times. */
  async function openContested(environment?: ExecutionEnvironment) {
    const times = { left: 0 };
    const withRival = wrappedRegistry(await makeAccounts(harness), async ({ text }, send, database) => {
      if (text.includes('UPDATE "accounts"') && times.left > 0) {
        times.left -= 1;
        await database.query({ text: 'UPDATE accounts SET version = version + 1', values: [] });
      }
      return send();
    });
    const { executor, open, balance } = openBank(withRival, environment);
    const account = await open(HERE, 5);
    const credit = (timeoutMs: number): Promise<unknown> => {
      const configuration = configure().timeoutMs(timeoutMs);
      const params = { account, amount: new Decimal(2) };
      return executor.execute(ALICE, CreditAction, params, configuration.build());
    };
    return { times, credit, balance: () => balance(account) };
  }

  test('is applied once the other process has finished, with all executions that wait', async () => {
    const { times, credit, balance } = await openContested();
    times.left = 2;
    await Promise.all(Array.from({ length: 8 }, () => credit(60_000)));
    expect(times.left).toBe(0);
    expect(await balance()).toBe('21');
  });

  test('starts no attempt whose outcome it might not learn before its deadline', async () => {
    let leapMs = 0;
    let endMs: number | undefined;
    const environment = {
      ...systemEnvironment(),
      nowMs: () => {
        endMs ??= performance.now() + 60_000;
        return performance.now() + leapMs;
      },
      sleep: async () => {
        await new Promise(setImmediate);
        leapMs = (endMs ?? 0) - 20 - performance.now();
      },
    };
    const { times, credit, balance } = await openContested(environment);
    // The first attempt is lost, alone and after waiting; a second one would succeed.
    times.left = 2;
    endMs = undefined;
    const lost = credit(60_000);
    await expect(lost).rejects.toBeInstanceOf(StaleModelError);
    expect(await balance()).toBe('5');
  });

  test('fails with the conflict, and all executions that wait with it', async () => {
    const { times, credit, balance } = await openContested();
    times.left = Number.POSITIVE_INFINITY;
    const errors = await knownEnds((timeoutMs) => Array.from({ length: 8 }, () => credit(timeoutMs)));
    expect(errors).toEqual(Array.from({ length: 8 }, () => expect.any(StaleModelError)));
    expect(await balance()).toBe('5');
  });
});

/**
 * The errors of executions. An attempt in flight at its deadline has an unknown outcome; a busy machine needs more time
 * to answer it, so the executions are repeated with more time until no outcome is unknown.
 */
async function knownEnds(start: (timeoutMs: number) => readonly Promise<unknown>[]): Promise<unknown[]> {
  let ends: unknown[] = [];
  for (let timeoutMs = 1_500; timeoutMs < 60_000; timeoutMs *= 3) {
    ends = await Promise.all(start(timeoutMs).map((each) => each.catch((error: unknown) => error)));
    if (!ends.some((end) => end instanceof CommitOutcomeUnknownError)) break;
  }
  return ends;
}

describeOn('postgresql', 'A row that another transaction has locked', (harness) => {
  test('is busy and not stale, although the attempt has no time to wait for it, and no other row is', async () => {
    const databases = await makeAccounts(harness);
    const config = databases.memberConfig(HERE);
    const primary = { ...config.primary, lockTimeoutMs: 3_600_000 };
    vi.spyOn(databases, 'memberConfig').mockReturnValue({ ...config, primary });
    const bank = openBank(databases);
    const [account, neighbour] = [await bank.open(HERE, 0), await bank.open(HERE, 0)];
    const once = configure().maximumAttempts(1).build();
    const credit = () =>
      bank.executor.execute(ALICE, CreditAction, { account, amount: new Decimal(1) }, once);
    await credit();
    const lock = `select from accounts where id = '${account}' for update`;
    await whileHeld(databases.database(HERE), lock, async () => {
      const refused = expect(credit()).rejects.toThrow(RowBusyError);
      await bank.credit(neighbour, 1);
      await refused;
    });
    expect(await bank.balance(account)).toBe('1');
  });

  test.each(['eventlog.actions', 'eventlog.events', 'accounts'])(
    'is busy if it is the table %s, because no attempt starts without time to wait for it',
    async (table) => {
      const databases = await makeAccounts(harness);
      const bank = openBank(databases);
      const account = await bank.open(HERE, 0);
      await bank.credit(account, 1);
      await whileHeld(databases.database(HERE), `lock table ${table} in exclusive mode`, async () => {
        // The second attempt would have too little time, however long the first one takes.
        const timeoutMs = 2 * databases.memberConfig(HERE).primary.lockTimeoutMs;
        const once = configure().timeoutMs(timeoutMs).build();
        const params = { account, amount: new Decimal(1) };
        await expect(bank.executor.execute(ALICE, CreditAction, params, once)).rejects.toThrow(RowBusyError);
      });
      expect(await bank.balance(account)).toBe('1');
    },
  );
});
