import { onTestFinished } from 'vitest';
import type { DatabaseHarness } from '../../../test/databases/databases.js';
import type { OwnerReason } from '../../../test/databases/roles.js';
import { type Application, type AssemblyOptions, assembleApplication } from '../../application.js';
import { Decimal } from '../../domain/decimal.js';
import { until } from '../../events/test-support/ledger.js';
import { HERE, OpenAction, THERE } from '../../execution/test-support/accounts.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import type { SagaSummary } from '../sagas.js';
import { Trip, TripStartAction, type TripState, type TripTerms, tripApplication } from './trips.js';

/** Starts trips. */
const AGENT = { name: 'alice', claims: { desk: 'agent' } } as const;

/** Databases of trips, which start on `HERE`. */
export function tripShards(harness: DatabaseHarness, owner?: OwnerReason): Promise<DatabaseRegistry> {
  const { migrations } = tripApplication();
  return harness.makeShards({ shards: [HERE, THERE], migrations, ...(owner === undefined ? {} : { owner }) });
}

/** A process whose delivery stops when the test ends. It delivers by default. */
export function tripProcess(
  databases: DatabaseRegistry,
  terms: TripTerms = {},
  options: Partial<AssemblyOptions<object>> = {},
): Application {
  const application = assembleApplication(tripApplication(terms), databases, {
    ...{ namespace: 'test', collaborators: {}, warn: () => {} },
    delivery: { leaseMs: 500, surveyMs: 50 },
    execution: { timeoutMs: 10_000 },
    ...options,
  });
  onTestFinished(() => application.events.stop(0));
  return application;
}

/**
 * A trip whose flights are booked on another shard and whose hotels on its own.
 *
 * @param date of its start, by the clock of the process. Default: now
 */
export async function startTrip(
  { executor }: Application,
  state: TripState = 'FLIGHT',
  date?: Date,
): Promise<Trip> {
  const account = async (shard: typeof HERE): Promise<string> =>
    (await executor.execute(AGENT, OpenAction, { shard, balance: new Decimal(0) })).id.getValue();
  const trip = Trip.plan(HERE, await account(THERE), await account(HERE), state, date);
  return executor.execute(AGENT, TripStartAction, { trip });
}

/** Booked flights and hotels, and the state of the trip. */
export async function bookedIn(databases: DatabaseRegistry, trip: Trip): Promise<readonly unknown[]> {
  const firstOf = async (shard: typeof HERE, text: string, id: string): Promise<unknown> =>
    (await databases.database(shard).query({ text, values: [id] })).rows[0]?.[0];
  const balance = 'SELECT balance::int FROM accounts WHERE id = $1';
  return [
    await firstOf(THERE, balance, trip.flights),
    await firstOf(HERE, balance, trip.hotels),
    await firstOf(HERE, 'SELECT state FROM trips WHERE id = $1', trip.id.getValue()),
  ];
}

export function summaryOf(application: Application, { id }: Trip): Promise<SagaSummary> {
  return application.sagas.show(id.getValue());
}

/** Waits for the end of a trip. @returns as `bookedIn` */
export async function ended(application: Application, trip: Trip): Promise<readonly unknown[]> {
  await until(async () => (await summaryOf(application, trip)).state === 'ENDED');
  return bookedIn(application.databases, trip);
}
