import { afterEach, expect, test, vi } from 'vitest';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import { type Application, assembleApplication } from '../application.js';
import { Decimal } from '../domain/decimal.js';
import type { Principal } from '../domain/principal.js';
import { FwError } from '../errors.js';
import { until } from '../events/test-support/ledger.js';
import { ALICE, HERE, OpenAction, THERE } from '../execution/test-support/accounts.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { MoveAction } from './saga-actions.js';
import { endTime } from './test-support/step-time.js';
import {
  Trip,
  TripApproveAction,
  TripNoteAction,
  TripStartAction,
  type TripTerms,
  tripApplication,
} from './test-support/trips.js';

/** Starting embedded databases takes long on a busy machine. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const BOB: Principal = { name: 'bob', claims: { desk: 'manager' } };
const open: Application[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.events.stop(0)));
});

function processOf(databases: DatabaseRegistry, terms: TripTerms = {}, deliver = true): Application {
  const application = assembleApplication(tripApplication(terms), databases, {
    ...{ namespace: 'test', collaborators: {}, deliver, warn: () => {} },
    delivery: { leaseMs: 500, surveyMs: 50 },
    execution: { timeoutMs: 10_000 },
  });
  open.push(application);
  return application;
}

/** A trip that waits for an approval. Its flights are booked on another shard, its hotels on its own. */
async function ask({ executor }: Application): Promise<Trip> {
  const account = async (shard: typeof HERE): Promise<string> =>
    (await executor.execute(ALICE, OpenAction, { shard, balance: new Decimal(0) })).id.getValue();
  const trip = Trip.plan(HERE, await account(THERE), await account(HERE), 'ASKED');
  return executor.execute(ALICE, TripStartAction, { trip });
}

const approve = ({ executor }: Application, { id }: Trip): Promise<Trip> =>
  executor.execute(BOB, TripApproveAction, { trip: id.getValue() });

describeOnEachAdapter('A saga that waits', (harness) => {
  const shards = (): Promise<DatabaseRegistry> =>
    harness.makeShards({ shards: [HERE, THERE], migrations: tripApplication().migrations });
  const summaryOf = (application: Application, { id }: Trip) => application.sagas.show(id.getValue());
  const ended = (application: Application, trip: Trip): Promise<void> =>
    until(async () => (await summaryOf(application, trip)).state === 'ENDED');

  /** Booked flights and hotels, and the state of the trip. */
  async function bookedIn(databases: DatabaseRegistry, trip: Trip): Promise<readonly unknown[]> {
    const firstOf = async (shard: typeof HERE, text: string, id: string): Promise<unknown> =>
      (await databases.database(shard).query({ text, values: [id] })).rows[0]?.[0];
    const balance = 'SELECT balance::int FROM accounts WHERE id = $1';
    return [
      await firstOf(THERE, balance, trip.flights),
      await firstOf(HERE, balance, trip.hotels),
      await firstOf(HERE, 'SELECT state FROM trips WHERE id = $1', trip.id.getValue()),
    ];
  }

  test('continues once an action has changed its state, as the principal of that action', async () => {
    const databases = await shards();
    const application = processOf(databases);
    const trip = await ask(application);
    expect(await summaryOf(application, trip)).toMatchObject({ state: 'RUNNING', step: 'ASKED' });
    await approve(application, trip);
    await ended(application, trip);
    expect(await bookedIn(databases, trip)).toEqual([1, 1, 'BOOKED']);
    const text = "SELECT name, principal, claims FROM eventlog.actions WHERE name LIKE 'TripSaga.%'";
    const { rows } = await databases.database(THERE).query({ text, values: [] });
    expect(rows).toEqual([['TripSaga.FLIGHT', 'bob', { desk: 'manager' }]]);
    await expect(approve(application, trip)).rejects.toThrow('The trip is BOOKED');
  });

  test('goes on as that principal, although other events of its model are handled after the change', async () => {
    const databases = await shards();
    const silent = processOf(databases, {}, false);
    const trip = await ask(silent);
    await silent.executor.execute({ name: 'carol' }, TripNoteAction, { trip: trip.id.getValue() });
    await approve(silent, trip);
    await ended(processOf(databases), trip);
    const text = "SELECT DISTINCT principal FROM eventlog.actions WHERE name LIKE 'TripSaga.%'";
    for (const shard of [HERE, THERE])
      expect((await databases.database(shard).query({ text, values: [] })).rows).toEqual([['bob']]);
  });

  test('expires at its time, which its state may know, and takes no approval afterwards', async () => {
    const databases = await shards();
    const soon = new Date(Date.now() + 300);
    const application = processOf(databases, { asked: { until: () => soon } });
    const trip = await ask(application);
    expect((await summaryOf(application, trip)).deadline?.getTime()).toBeLessThan(Date.now() + 300);
    await ended(application, trip);
    expect(await bookedIn(databases, trip)).toEqual([0, 0, 'CANCELLED']);
    expect(await summaryOf(application, trip)).toMatchObject({ failure: { code: 'TIMED_OUT' } });
    await expect(approve(application, trip)).rejects.toThrow('The trip is CANCELLED');
  });

  test('is either approved or expired when both happen at once, in one of two processes', async () => {
    const databases = await shards();
    const [one, other] = [processOf(databases), processOf(databases)];
    const trips = await Promise.all(Array.from({ length: 12 }, () => ask(one)));
    const outcomes = await Promise.all(
      trips.map(async (trip, nr) => {
        await endTime(one, HERE, trip.id.getValue());
        if (nr % 2 === 1) await until(async () => (await summaryOf(one, trip)).step !== 'ASKED');
        return approve(nr % 4 < 2 ? one : other, trip).then(
          () => 'approved',
          (error) => (error instanceof FwError ? error.code : error),
        );
      }),
    );
    await Promise.all(trips.map((trip) => ended(other, trip)));
    const booked = await Promise.all(trips.map((trip) => bookedIn(databases, trip)));
    expect(outcomes.filter((each) => each === 'approved').length).toBeLessThan(12);
    for (const [nr, outcome] of outcomes.entries())
      expect(booked[nr]).toEqual(outcome === 'approved' ? [1, 1, 'BOOKED'] : [0, 0, 'CANCELLED']);
  });

  test('is followed by an approval that no process has noticed, although its time is over then', async () => {
    const databases = await shards();
    const silent = processOf(databases, {}, false);
    const trip = await ask(silent);
    await approve(silent, trip);
    await endTime(silent, HERE, trip.id.getValue());
    await ended(processOf(databases), trip);
    expect(await bookedIn(databases, trip)).toEqual([1, 1, 'BOOKED']);
  });

  test('is followed rather than expired if an approval comes between the two', async () => {
    const databases = await shards();
    const silent = processOf(databases, {}, false);
    const trip = await ask(silent);
    await approve(silent, trip);
    const failure = { code: 'TIMED_OUT', message: 'It is late' };
    await silent.executor.execute(ALICE, MoveAction, { saga: trip.id.getValue(), stepNumber: 1, failure });
    expect(await summaryOf(silent, trip)).toMatchObject({ step: 'FLIGHT', failure: undefined });
  });

  test('has its whole time again after a retry', async () => {
    const databases = await shards();
    const silent = processOf(databases, {}, false);
    const trip = await ask(silent);
    await endTime(silent, HERE, trip.id.getValue());
    expect(await silent.sagas.retry(ALICE, trip.id.getValue())).toBe(true);
    const application = processOf(databases);
    const lag = async () => (await application.events.lag(HERE))[0];
    await until(async () => (await lag())?.dueActions === 0 && (await lag())?.consumers[0]?.behind === 0);
    expect(await summaryOf(application, trip)).toMatchObject({ step: 'ASKED', stuck: undefined });
  });

  test('can be abandoned, and ends without a step in flight', async () => {
    const databases = await shards();
    const application = processOf(databases);
    const trip = await ask(application);
    expect(await application.sagas.retry(ALICE, trip.id.getValue())).toBe(false);
    expect(await application.sagas.abandon(ALICE, trip.id.getValue(), 'asked twice')).toBe(true);
    const later = await ask(application);
    await approve(application, later);
    await ended(application, later);
    expect(await bookedIn(databases, trip)).toEqual([0, 0, 'ASKED']);
    expect((await application.events.lag(HERE))[0]?.consumers.map(({ deadLetters }) => deadLetters)).toEqual([
      0,
    ]);
  });
});
