import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { describeOn } from '../../test/databases/vitest.js';
import { ShardUnavailableError } from '../errors.js';
import { until } from '../events/test-support/ledger.js';
import { THERE } from '../execution/test-support/accounts.js';
import { TransactionManager } from '../sharding/transaction-manager.js';
import { startTrip, summaryOf, tripProcess, tripShards } from './test-support/trip-process.js';

/** How long a foreign transaction holds back the log, in milliseconds. */
const HELD_MS = Number(process.env['FW_PROOF_HORIZON_MS'] ?? 6_000);
/** Time-out of the first step, in milliseconds: over before the first attempt. */
const TIMEOUT_MS = Math.min(HELD_MS - 1_000, 60_000);
const TRIPS = process.env['FW_PROOF_HORIZON_MS'] === undefined ? 8 : 96;

describeOn('postgresql', 'Steps that a foreign transaction delays beyond their time-out', (harness) => {
  test(
    'have their whole time from the first attempt, and no more',
    async () => {
      const databases = await tripShards(harness);
      const failed = new Map<string, number>();
      let hopeless = '';
      const application = tripProcess(
        databases,
        {
          flight: { timeoutMs: TIMEOUT_MS },
          trouble: ({ supplier, count }) => {
            if (count < 0 || (failed.has(supplier) && supplier !== hopeless)) return;
            if (!failed.has(supplier)) failed.set(supplier, performance.now());
            throw new ShardUnavailableError('(1, 0)', 'all sagas begin at once');
          },
        },
        { delivery: { leaseMs: 5_000, surveyMs: 50 }, execution: { timeoutMs: 30_000 } },
      );
      const foreign = new TransactionManager(databases.database(THERE));
      const trips = await foreign.transaction(async (transaction) => {
        await transaction.query({ text: 'SELECT pg_current_xact_id()', values: [] });
        const started = await Promise.all(Array.from({ length: TRIPS }, () => startTrip(application)));
        hopeless = started[0]?.flights ?? '';
        // Queries keep the session from being ended as idle.
        for (const endMs = performance.now() + HELD_MS; performance.now() < endMs; await sleep(500))
          await transaction.query({ text: 'SELECT', values: [] });
        expect(failed.size).toBe(0);
        return started;
      });
      const [lost, ...others] = trips;
      if (lost === undefined) throw new Error('There are trips');
      for (const trip of others)
        await until(async () => (await summaryOf(application, trip)).step === 'BOOKED');
      await until(async () => (await summaryOf(application, lost)).step === 'CANCELLED');
      expect(performance.now() - (failed.get(hopeless) ?? 0)).toBeGreaterThan(TIMEOUT_MS);
      expect(await summaryOf(application, lost)).toMatchObject({ failure: { code: 'TIMED_OUT' } });
    },
    HELD_MS + 240_000,
  );
});
