import { afterEach, expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import { type Application, assembleApplication } from '../application.js';
import { Decimal } from '../domain/decimal.js';
import { until } from '../events/test-support/ledger.js';
import { ALICE, HERE, OpenAction, THERE } from '../execution/test-support/accounts.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { mortalDatabases } from './test-support/mortal-databases.js';
import { Trip, TripApproveAction, TripStartAction, tripApplication } from './test-support/trips.js';

/** 1: every statement. */
const STRIDE = Number(process.env['FW_PROOF_STRIDE'] ?? 7);
const open: Application[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.events.stop(0)));
});

function processOf(databases: DatabaseRegistry, deliver = true): Application {
  const application = assembleApplication(tripApplication(), databases, {
    ...{ namespace: 'test', collaborators: {}, deliver, warn: () => {} },
    delivery: { leaseMs: 500, surveyMs: 50 },
    execution: { timeoutMs: 10_000 },
  });
  open.push(application);
  return application;
}

/** An approved trip, which no process has noticed. */
async function approved({ executor }: Application): Promise<Trip> {
  const account = async (shard: typeof HERE): Promise<string> =>
    (await executor.execute(ALICE, OpenAction, { shard, balance: new Decimal(0) })).id.getValue();
  const trip = Trip.plan(HERE, await account(THERE), await account(HERE), 'ASKED');
  await executor.execute(ALICE, TripStartAction, { trip });
  return executor.execute(ALICE, TripApproveAction, { trip: trip.id.getValue() });
}

describeOnEachAdapter('A wait that has ended', (harness) => {
  test('is followed once, at whichever statement the process dies that follows it', async () => {
    const { migrations } = tripApplication();
    const databases = await harness.makeShards({ shards: [HERE, THERE], migrations });
    const setup = processOf(databases, false);
    const hasEnded = async ({ id }: Trip): Promise<boolean> =>
      (await setup.sagas.show(id.getValue())).state === 'ENDED';
    const numberOn = async (shard: typeof HERE, id: string): Promise<unknown> => {
      const text = 'SELECT balance::int FROM accounts WHERE id = $1';
      return (await databases.database(shard).query({ text, values: [id] })).rows[0]?.[0];
    };
    let statement = 1;
    for (let survived = false; !survived; statement += STRIDE) {
      for (const after of [false, true]) {
        const trip = await approved(setup);
        const mortal = mortalDatabases(databases);
        mortal.arm(statement, after);
        const first = processOf(mortal.databases);
        await until(async () => mortal.dead() || (await hasEnded(trip)));
        survived = !mortal.dead();
        await first.events.stop(0);
        const second = processOf(databases);
        await until(() => hasEnded(trip));
        await second.events.stop(0);
        expect([await numberOn(THERE, trip.flights), await numberOn(HERE, trip.hotels)]).toEqual([1, 1]);
      }
    }
    expect(statement).toBeGreaterThan(5);
  }, 600_000);
});
