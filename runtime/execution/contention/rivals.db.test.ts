import { expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { ExecutionConfiguration } from '../../action/execution-configuration.js';
import { type ExecutionEnvironment, systemEnvironment } from '../../concurrency/execution-environment.js';
import { Decimal } from '../../domain/decimal.js';
import { CommitOutcomeUnknownError, StaleModelError } from '../../errors.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { wrappedRegistry } from '../../sharding/test-support/wrapped-registry.js';
import { ALICE, accountMigrations, CreditAction, HERE, openBank } from '../test-support/accounts.js';

interface Times {
  left: number;
}

/** Databases on which a rival updates an account first, for the given number of updates. */
function withRival(databases: DatabaseRegistry, times: Times): DatabaseRegistry {
  return wrappedRegistry(databases, async ({ text }, send, database) => {
    if (text.includes('UPDATE "accounts"') && times.left > 0) {
      times.left -= 1;
      await database.query({ text: 'UPDATE accounts SET version = version + 1', values: [] });
    }
    return send();
  });
}

interface Contested {
  readonly times: Times;
  credit(timeoutMs: number): Promise<unknown>;
  balance(): Promise<string>;
}

describeOnEachAdapter('An execution whose row another process also changes', (harness) => {
  /** An account with a balance of 5. Each credit in the test adds 2. */
  async function openContested(environment?: ExecutionEnvironment): Promise<Contested> {
    const databases = await harness.makeShards({ shards: [HERE], migrations: accountMigrations });
    const times: Times = { left: 0 };
    const { executor, open, balance } = openBank(withRival(databases, times), environment);
    const account = await open(HERE, 5);
    const credit = (timeoutMs: number): Promise<unknown> => {
      const configuration = ExecutionConfiguration.Builder.executionConfiguration().timeoutMs(timeoutMs);
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

  test('finally fails with the conflict', async () => {
    const { times, credit, balance } = await openContested();
    times.left = Number.POSITIVE_INFINITY;
    const errors = await knownEnds((timeoutMs) => [credit(timeoutMs)]);
    expect(errors).toEqual([expect.any(StaleModelError)]);
    expect(await balance()).toBe('5');
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
