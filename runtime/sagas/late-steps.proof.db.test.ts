import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { describeOn } from '../../test/databases/vitest.js';
import { type Application, assembleApplication } from '../application.js';
import { Decimal } from '../domain/decimal.js';
import { ShardUnavailableError } from '../errors.js';
import { until } from '../events/test-support/ledger.js';
import { ALICE, HERE, OpenAction, THERE } from '../execution/test-support/accounts.js';
import { TransactionManager } from '../sharding/transaction-manager.js';
import { Trip, TripStartAction, tripApplication } from './test-support/trips.js';

/** How long a foreign transaction holds back the log, in milliseconds. */
const HELD_MS = Number(process.env['FW_PROOF_HORIZON_MS'] ?? 6_000);
/** Time-out of the first step, in milliseconds: over before the first attempt. */
const TIMEOUT_MS = Math.min(HELD_MS - 1_000, 60_000);
const TRIPS = process.env['FW_PROOF_HORIZON_MS'] === undefined ? 8 : 96;

const open: Application[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.events.stop(0)));
});

describeOn('postgresql', 'Steps that a foreign transaction delays beyond their time-out', (harness) => {
  test(
    'have their whole time from the first attempt, and no more',
    async () => {
      const { migrations } = tripApplication();
      const databases = await harness.makeShards({ shards: [HERE, THERE], migrations });
      const failed = new Map<string, number>();
      let hopeless = '';
      const application = assembleApplication(
        tripApplication({
          flight: { timeoutMs: TIMEOUT_MS },
          trouble: ({ supplier, count }) => {
            if (count < 0 || (failed.has(supplier) && supplier !== hopeless)) return;
            if (!failed.has(supplier)) failed.set(supplier, performance.now());
            throw new ShardUnavailableError('(1, 0)', 'all sagas begin at once');
          },
        }),
        databases,
        {
          ...{ namespace: 'test', collaborators: {}, warn: () => {} },
          delivery: { leaseMs: 5_000, surveyMs: 50 },
          execution: { timeoutMs: 30_000 },
        },
      );
      open.push(application);
      const account = async (shard: typeof HERE): Promise<string> =>
        (
          await application.executor.execute(ALICE, OpenAction, { shard, balance: new Decimal(0) })
        ).id.getValue();
      const start = async (): Promise<Trip> => {
        const trip = Trip.plan(HERE, await account(THERE), await account(HERE));
        return application.executor.execute(ALICE, TripStartAction, { trip });
      };
      const stepOf = async ({ id }: Trip): Promise<string> =>
        (await application.sagas.show(id.getValue())).step;
      const foreign = new TransactionManager(databases.database(THERE));
      const trips = await foreign.transaction(async (transaction) => {
        await transaction.query({ text: 'SELECT pg_current_xact_id()', values: [] });
        const started = await Promise.all(Array.from({ length: TRIPS }, start));
        hopeless = started[0]?.flights ?? '';
        // Queries keep the session from being ended as idle.
        for (const endMs = performance.now() + HELD_MS; performance.now() < endMs; await sleep(500))
          await transaction.query({ text: 'SELECT', values: [] });
        expect(failed.size).toBe(0);
        return started;
      });
      const [lost, ...others] = trips;
      if (lost === undefined) throw new Error('There are trips');
      for (const trip of others) await until(async () => (await stepOf(trip)) === 'BOOKED');
      await until(async () => (await stepOf(lost)) === 'CANCELLED');
      expect(performance.now() - (failed.get(hopeless) ?? 0)).toBeGreaterThan(TIMEOUT_MS);
      expect(await application.sagas.show(lost.id.getValue())).toMatchObject({
        failure: { code: 'TIMED_OUT' },
      });
    },
    HELD_MS + 240_000,
  );
});
