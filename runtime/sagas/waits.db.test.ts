import { beforeEach, expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import type { Application } from '../application.js';
import type { Principal } from '../domain/principal.js';
import { FwError } from '../errors.js';
import { until } from '../events/test-support/ledger.js';
import { ALICE, HERE, THERE } from '../execution/test-support/accounts.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { OverdueAction } from './overdue-action.js';
import { MoveAction } from './saga-actions.js';
import { endTime } from './test-support/step-time.js';
import {
  bookedIn,
  ended,
  startTrip,
  summaryOf,
  tripProcess,
  tripShards,
} from './test-support/trip-process.js';
import { type Trip, TripApproveAction, TripNoteAction } from './test-support/trips.js';

const BOB: Principal = { name: 'bob', claims: { desk: 'manager' } };

const SILENT = { deliver: false } as const;

/** A trip that waits for an approval. */
const ask = (application: Application, date?: Date): Promise<Trip> => startTrip(application, 'ASKED', date);

const approve = ({ executor }: Application, { id }: Trip): Promise<Trip> =>
  executor.execute(BOB, TripApproveAction, { trip: id.getValue() });

describeOnEachAdapter('A saga that waits', (harness) => {
  let databases: DatabaseRegistry;

  beforeEach(async () => {
    databases = await tripShards(harness);
  });

  test('continues once an action has changed its state, as the principal of that action', async () => {
    const application = tripProcess(databases);
    const trip = await ask(application);
    expect(await summaryOf(application, trip)).toMatchObject({ state: 'RUNNING', step: 'ASKED' });
    await approve(application, trip);
    expect(await ended(application, trip)).toEqual([1, 1, 'BOOKED']);
    const text = "SELECT name, principal, claims FROM eventlog.actions WHERE name LIKE 'TripSaga.%'";
    const { rows } = await databases.database(THERE).query({ text, values: [] });
    expect(rows).toEqual([['TripSaga.FLIGHT', 'bob', { desk: 'manager' }]]);
    await expect(approve(application, trip)).rejects.toThrow('The trip is BOOKED');
  });

  test('goes on as that principal, although other events of its model are handled after the change', async () => {
    const silent = tripProcess(databases, {}, SILENT);
    const trip = await ask(silent);
    await silent.executor.execute({ name: 'carol' }, TripNoteAction, { trip: trip.id.getValue() });
    await approve(silent, trip);
    await ended(tripProcess(databases), trip);
    const text = "SELECT DISTINCT principal FROM eventlog.actions WHERE name LIKE 'TripSaga.%'";
    for (const shard of [HERE, THERE])
      expect((await databases.database(shard).query({ text, values: [] })).rows).toEqual([['bob']]);
  });

  test('expires at its time, which its state may know, and takes no approval afterwards', async () => {
    const soon = new Date(Date.now() + 300);
    const application = tripProcess(databases, { asked: { until: () => soon } });
    const trip = await ask(application);
    expect((await summaryOf(application, trip)).deadline?.getTime()).toBeLessThan(Date.now() + 300);
    expect(await ended(application, trip)).toEqual([0, 0, 'CANCELLED']);
    expect(await summaryOf(application, trip)).toMatchObject({ failure: { code: 'TIMED_OUT' } });
    await expect(approve(application, trip)).rejects.toThrow('The trip is CANCELLED');
  });

  test('until a date does not expire before, although the clock of its process is ahead', async () => {
    const date = new Date(Date.now() + 3_600_000);
    const silent = tripProcess(databases, { asked: { until: () => date } }, SILENT);
    const trip = await ask(silent, new Date(date.getTime() + 3_600_000));
    expect(await summaryOf(silent, trip)).toMatchObject({ deadline: date, stuck: undefined });
    expect(await silent.events.schedules.list()).toMatchObject([{ dueDate: date }]);
    await endTime(silent, HERE, trip.id.getValue());
    expect(await silent.sagas.retry(ALICE, trip.id.getValue())).toBe(true);
    expect(await summaryOf(silent, trip)).toMatchObject({ deadline: date, stuck: undefined });
  });

  test('expires at its time although the clock of its database is set back once that has come', async () => {
    const silent = tripProcess(databases, { asked: { until: 2_000 } }, SILENT);
    const trip = await ask(silent);
    await silent.databases.database(HERE).query({
      text: 'UPDATE eventlog.schedules SET next_date = clock_timestamp()',
      values: [],
    });
    const application = tripProcess(databases, { asked: { until: 2_000 } });
    await until(async () => (await silent.events.schedules.list({ state: 'done' })).length > 0);
    expect(await ended(application, trip)).toEqual([0, 0, 'CANCELLED']);
  });

  test('expires although the clock is set back between the notice that its time is over and its handling', async () => {
    const silent = tripProcess(databases, {}, SILENT);
    const trip = await ask(silent);
    const saga = trip.id.getValue();
    const database = silent.databases.database(HERE);
    await database.query({ text: 'UPDATE eventlog.sagas SET deadline = now()', values: [] });
    await silent.executor.execute(BOB, OverdueAction, { saga, stepNumber: 1 });
    // The schedule that gave the notice has ended with it.
    await database.query({ text: 'DELETE FROM eventlog.schedules', values: [] });
    await database.query({ text: "UPDATE eventlog.sagas SET deadline = now() + interval '4 s'", values: [] });
    expect(await ended(tripProcess(databases), trip)).toEqual([0, 0, 'CANCELLED']);
  });

  test('is either approved or expired when both happen at once, in one of two processes', async () => {
    const [one, other] = [tripProcess(databases), tripProcess(databases)];
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
    const silent = tripProcess(databases, {}, SILENT);
    const trip = await ask(silent);
    await approve(silent, trip);
    await endTime(silent, HERE, trip.id.getValue());
    expect(await ended(tripProcess(databases), trip)).toEqual([1, 1, 'BOOKED']);
  });

  test('is followed rather than expired if an approval comes between the two', async () => {
    const silent = tripProcess(databases, {}, SILENT);
    const trip = await ask(silent);
    await approve(silent, trip);
    const failure = { code: 'TIMED_OUT', message: 'It is late' };
    await silent.executor.execute(ALICE, MoveAction, { saga: trip.id.getValue(), stepNumber: 1, failure });
    expect(await summaryOf(silent, trip)).toMatchObject({ step: 'FLIGHT', failure: undefined });
  });

  test('has its whole time again after a retry', async () => {
    const silent = tripProcess(databases, {}, SILENT);
    const trip = await ask(silent);
    await endTime(silent, HERE, trip.id.getValue());
    expect(await silent.sagas.retry(ALICE, trip.id.getValue())).toBe(true);
    const application = tripProcess(databases);
    const lag = async () => (await application.events.lag(HERE))[0];
    await until(async () => (await lag())?.dueActions === 0 && (await lag())?.consumers[0]?.behind === 0);
    expect(await summaryOf(application, trip)).toMatchObject({ step: 'ASKED', stuck: undefined });
  });

  test('can be abandoned, and ends without a step in flight', async () => {
    const application = tripProcess(databases);
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
