import { afterEach, expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import { Decimal } from '../domain/decimal.js';
import { uuid7 } from '../domain/id-source.js';
import { ShardUnavailableError } from '../errors.js';
import { interceptedDatabase } from '../events/test-support/faulty-databases.js';
import { until } from '../events/test-support/ledger.js';
import { ALICE, HERE, OpenAction, THERE } from '../execution/test-support/accounts.js';
import { purgeSagas } from '../retention/saga-records.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import { startTrip, tripProcess, tripShards } from './test-support/trip-process.js';
import { Trip, TripStartAction } from './test-support/trips.js';

const OLD = Date.UTC(2024, 0, 10, 12);
afterEach(() => uuid7.reset());

describeOnEachAdapter('Records of sagas', (harness) => {
  test('are deleted long after the saga has ended, and never while it is running', async () => {
    uuid7.reset({ nowMs: () => OLD, fillRandom: (bytes) => void crypto.getRandomValues(bytes) });
    let stuckHotels: string | undefined;
    const databases = await tripShards(harness, 'retention');
    const running = tripProcess(databases, {
      trouble: ({ supplier }) => {
        if (supplier === stuckHotels) throw new ShardUnavailableError('(0, 0)', 'it is a test');
      },
    });
    const rows = async (shard: typeof HERE, text: string): Promise<readonly (readonly unknown[])[]> =>
      (await databases.database(shard).query({ text, values: [] })).rows;
    const states = (): Promise<unknown> => rows(HERE, 'SELECT state FROM eventlog.sagas ORDER BY state');
    const steps = (): Promise<unknown> => rows(THERE, 'SELECT count(*) FROM eventlog.saga_steps');
    await startTrip(running);
    await until(async () => JSON.stringify(await states()) === '[["ENDED"]]');
    const open = async (shard: typeof HERE): Promise<string> =>
      (await running.executor.execute(ALICE, OpenAction, { shard, balance: new Decimal(0) })).id.getValue();
    stuckHotels = await open(HERE);
    const trip = Trip.plan(HERE, await open(THERE), stuckHotels);
    await running.executor.execute(ALICE, TripStartAction, { trip });
    await until(async () => JSON.stringify(await steps()) === '[["2"]]');
    // A step record whose saga was lost stays, because it proves the loss.
    await rows(
      THERE,
      `INSERT INTO eventlog.saga_steps SELECT overlay(id::text placing 'ffff' from 33)::uuid, state, version,
        overlay(saga_id::text placing 'ffff' from 33)::uuid, step_number, step, failure_code, failure_message,
        created_date, updated_date FROM eventlog.saga_steps LIMIT 1`,
    );
    await running.events.stop();
    expect(await running.events.retain({ keepDays: 2 })).toMatchObject([
      { deletedSagas: 0, deletedSagaSteps: 0 },
      { deletedSagas: 0, deletedSagaSteps: 0 },
    ]);
    await rows(HERE, "UPDATE eventlog.sagas SET updated_date = '2024-01-10'");
    const down = interceptedDatabase(databases.database(THERE), async () => {
      throw new DriverFailure('connect ECONNREFUSED', { phase: 'not-sent', reason: 'unreachable' });
    });
    const here = databases.database(HERE);
    // A shard that does not answer may have records of its steps.
    expect(await purgeSagas(here, [here, down], Date.now() - 2 * 86_400_000)).toEqual({
      deletedSagas: 0,
      deletedSagaSteps: 0,
      unreachable: [THERE],
    });
    expect(await running.events.retain({ keepDays: 2 })).toMatchObject([
      { deletedSagas: 1, deletedSagaSteps: 1 },
      { deletedSagas: 0, deletedSagaSteps: 0 },
    ]);
    expect([await states(), await steps()]).toEqual([[['RUNNING']], [['2']]]);
    // The time-outs of the first saga were still pending.
    await rows(
      HERE,
      "UPDATE eventlog.schedules SET next_date = clock_timestamp() WHERE action_name = 'Saga.overdue'",
    );
    running.events.start();
    await until(async () => {
      const due = "state IN ('pending', 'running') AND next_date <= clock_timestamp()";
      return (await rows(HERE, `SELECT FROM eventlog.schedules WHERE ${due}`)).length === 0;
    });
    expect(await rows(HERE, "SELECT FROM eventlog.schedules WHERE state = 'failed'")).toEqual([]);
  });
});
