import { expect, test } from 'vitest';
import { describeOn } from '../../../test/databases/vitest.js';
import { Decimal } from '../../domain/decimal.js';
import { HERE } from '../../execution/test-support/accounts.js';
import { mortalDatabases } from '../test-support/faulty-databases.js';
import { handlerOf, type Ledger, ledgerMigrations, until } from '../test-support/ledger.js';
import { testLedger } from '../test-support/test-ledger.js';
import type { HandlerDescriptor } from './handler-descriptor.js';

/** Longer than any pause of a busy machine, so that no live process loses its lease. */
const LIMITS = { leaseMs: 60_000, surveyMs: 50 };
const ATTEMPTS = 3;
const DEADLY = new Decimal(13);

/** Expires the leases of a dead process. */
async function expireLeases({ rows }: Pick<Ledger, 'rows'>): Promise<void> {
  await rows('UPDATE eventlog.consumers SET leased_until = now() WHERE leased_until > now()');
  await rows('DELETE FROM eventlog.delivery_processes');
}

/** Handles every event but one, which kills the process. */
function deadlyHandler(seen: string[], kill: () => void, transactional: boolean): HandlerDescriptor {
  return handlerOf(
    'Deadly',
    async ({ event, modelId, modelVersion }) => {
      if (event.amount.equals(DEADLY)) {
        kill();
        await new Promise(() => {});
      }
      await new Promise((resolve) => setTimeout(resolve, 2));
      seen.push(`${modelId}@${modelVersion}`);
    },
    { transactional, maximumAttempts: ATTEMPTS, retryDelayMs: 1 },
  );
}

describeOn('postgresql', 'An event that kills the process of its handler', (harness) => {
  test.each([false, true])(
    'is parked after its last attempt, and nothing beside it (transactional %s)',
    async (transactional) => {
      const topology = await harness.makeTopology({ shards: [HERE], migrations: ledgerMigrations });
      const healthy = harness.open(topology);
      const writer = testLedger(healthy);
      const seen: string[] = [];
      /** Runs one process until it dies or has no work left. @returns whether it died */
      const live = async (): Promise<boolean> => {
        const { databases, dead, kill } = mortalDatabases(topology);
        const handlers = [deadlyHandler(seen, kill, transactional)];
        const mortal = testLedger(databases, { handlers, limits: LIMITS });
        mortal.events.start();
        await until(async () => {
          const [lag] = await writer.events.lag();
          const retrying = (await writer.events.deadLetters.list()).some((letter) => letter.retrying);
          return dead() || (lag?.consumers[0]?.behind === 0 && !retrying);
        });
        await mortal.events.stop(0);
        await databases.close(0);
        await expireLeases(writer);
        return dead();
      };
      const accounts = await Promise.all(Array.from({ length: 20 }, () => writer.open()));
      const [culprit = ''] = accounts;
      for (const account of accounts) await writer.credit(account);
      await writer.credit(culprit, DEADLY.toNumber());
      for (const account of accounts) await writer.credit(account);
      let deaths = 0;
      while (await live()) deaths += 1;
      // Attempts are recorded before they start once a process has died without progress: by the third death, or from
      // the first death if the process lost its lease for a moment.
      expect(deaths).toBeGreaterThanOrEqual(ATTEMPTS);
      expect(deaths).toBeLessThanOrEqual(ATTEMPTS + 3);
      const letters = await writer.events.deadLetters.list();
      expect(
        letters.map(({ modelId, state, attempts, errorCode }) => [modelId, state, attempts, errorCode]),
      ).toEqual([
        [culprit, 'failed', ATTEMPTS, 'FW_HANDLER_DIED'],
        [culprit, 'waiting', 0, undefined],
      ]);
      const expected = accounts.flatMap((each) =>
        each === culprit ? [`${each}@2`] : [`${each}@2`, `${each}@3`],
      );
      expect([...new Set(seen)].sort()).toEqual(expected.sort());
      expect(await writer.rows("SELECT suspects FROM eventlog.consumers WHERE name = 'Deadly'")).toEqual([
        [{}],
      ]);
      // A requested retry ends in the same way, and is not repeated endlessly.
      await writer.events.deadLetters.retry({});
      deaths = 0;
      while (await live()) deaths += 1;
      expect(deaths).toBe(ATTEMPTS);
      expect(await writer.events.deadLetters.list()).toHaveLength(2);
    },
    120_000,
  );
});

describeOn('postgresql', 'Attempts', (harness) => {
  test('that failed still count after a take-over, and restart at zero on a requested retry', async () => {
    const topology = await harness.makeTopology({ shards: [HERE], migrations: ledgerMigrations });
    const healthy = harness.open(topology);
    const writer = testLedger(healthy);
    const attempts: number[] = [];
    const { databases, kill } = mortalDatabases(topology);
    const failing = (retryDelayMs: number): HandlerDescriptor =>
      handlerOf(
        'Failing',
        ({ attempt }) => {
          attempts.push(attempt);
          throw new Error('no');
        },
        { maximumAttempts: 4, retryDelayMs },
      );
    await writer.credit(await writer.open());
    const mortal = testLedger(databases, { handlers: [failing(60_000)], limits: LIMITS });
    mortal.events.start();
    await until(async () => (await writer.rows(NOTED)).length === 1);
    kill();
    await mortal.events.stop(0);
    await databases.close(0);
    await expireLeases(writer);
    const survivor = testLedger(healthy, { handlers: [failing(1)], limits: LIMITS });
    survivor.events.start();
    await until(async () => (await writer.events.deadLetters.list()).length === 1);
    await writer.events.deadLetters.retry({});
    await until(async () => (await writer.events.deadLetters.list()).some((letter) => !letter.retrying));
    expect(attempts).toEqual([1, 2, 3, 4, 1, 2, 3, 4]);
  });
});

const NOTED = "SELECT FROM eventlog.consumers WHERE name = 'Failing' AND suspects <> '{}'";
