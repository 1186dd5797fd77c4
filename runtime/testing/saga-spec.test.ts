import { describe, expect, test } from 'vitest';
import type { ApplicationDefinition } from '../application-definition.js';
import { Decimal } from '../domain/decimal.js';
import { type Account, AccountCredited, newAccount } from '../domain/test-support/account.js';
import { DatabaseError, PlanMisuseError, RefusedError } from '../errors.js';
import { AccountRepository, HERE, THERE } from '../execution/test-support/accounts.js';
import type { Saga } from '../sagas/saga.js';
import {
  BookAction,
  Trip,
  TripApproveAction,
  TripMoved,
  TripStartAction,
  type TripState,
  type TripTerms,
  tripApplication,
} from '../sagas/test-support/trips.js';
import { applicationSpecs } from './application-specs.js';
import { persisted } from './persisted.js';
import type { SagaSpec } from './saga-spec.js';
import { complaint } from './test-support/complaint.js';
import { VirtualClock } from './virtual-clock.js';

const flights = persisted(newAccount(new Decimal(0), THERE).build());
const hotels = persisted(newAccount(new Decimal(0), HERE).build());
const clock = new VirtualClock(new Date());
const newTrip = (state?: TripState): Trip =>
  Trip.plan(HERE, flights.id.getValue(), hotels.id.getValue(), state, clock.now());
const booked = (account: Account, count: number): AccountCredited =>
  new AccountCredited(account.id, new Decimal(count));

function specOf(
  terms: TripTerms = {},
  application: ApplicationDefinition = tripApplication(terms),
): SagaSpec<Trip> {
  const [saga] = application.sagas ?? [];
  const sagaClass = saga?.create().constructor as new () => Saga<Trip>;
  // One application has one saga class, whose definition creates the instances.
  return applicationSpecs(application, { clock: new VirtualClock(clock.now()), shards: [HERE, THERE] })
    .saga(sagaClass)
    .given(flights, hotels);
}

describe('A specification of a saga', () => {
  test('counts the time of the first step from the start, whenever its state says that it was created', async () => {
    const yesterday = new Date(clock.now().getTime() - 86_400_000);
    const old = (): Trip => Trip.plan(HERE, flights.id.getValue(), hotels.id.getValue(), 'FLIGHT', yesterday);
    await specOf().whenStarted(old()).thenEnds('BOOKED');
    await specOf().givenTimeOut('FLIGHT').whenStarted(old()).thenEnds('CANCELLED');
  });

  test('runs all its steps, from the action that starts it', () => {
    const trip = newTrip();
    return specOf()
      .when(TripStartAction, { trip })
      .thenSteps('FLIGHT', {
        state: 'HOTEL',
        action: BookAction,
        params: { supplier: trip.hotels, count: 1 },
      })
      .thenEnds('BOOKED', { version: 3 })
      .thenStored(flights, { balance: new Decimal(1) })
      .thenStored(hotels, { balance: new Decimal(1) })
      .thenEvents(
        new TripMoved(trip.id),
        booked(flights, 1),
        new TripMoved(trip.id),
        booked(hotels, 1),
        new TripMoved(trip.id),
      )
      .thenTouches(HERE, THERE);
  });

  test('takes its steps as the part of the system that starts it', async () => {
    const { actions } = await specOf()
      .asSystem('agency')
      .when(TripStartAction, { trip: newTrip() })
      .thenEnds('BOOKED')
      .performed();
    expect(new Set(actions.map(({ principal }) => principal))).toEqual(new Set(['fw:system:agency']));
  });

  test('ends a wait by an action, or by its time', async () => {
    const trip = newTrip('ASKED');
    const params = { trip: trip.id.getValue() };
    const start = clock.now();
    await specOf()
      .givenSignal('ASKED', TripApproveAction, params, 59_000)
      .whenStarted(trip)
      .thenSteps('FLIGHT', 'HOTEL')
      .thenEnds('BOOKED');
    const { endedAt } = await specOf({ asked: { until: () => new Date(start.getTime() + 50_000) } })
      .whenStarted(newTrip('ASKED'))
      .thenSteps()
      .thenEnds('CANCELLED', { reason: 'TIMED_OUT' })
      .performed();
    expect(endedAt.getTime() - start.getTime()).toBeCloseTo(50_000, -3);
  });

  test('gives an action that ends a wait the id of a model that the start has created', async () => {
    await specOf()
      .givenSignal('ASKED', TripApproveAction, ({ id }) => ({ trip: id.getValue() }))
      .when(TripStartAction, { trip: newTrip('ASKED') })
      .thenSteps('FLIGHT', 'HOTEL')
      .thenEnds('BOOKED');
  });

  test('shows an action that comes too late for a wait', async () => {
    const trip = newTrip('ASKED');
    const spec = specOf().givenSignal('ASKED', TripApproveAction, { trip: trip.id.getValue() }, 61_000);
    await spec.whenStarted(trip).thenEnds('CANCELLED');
  });

  test('runs the compensation when a step is refused', () => {
    const failure = { code: 'FW_REFUSED', message: 'No room' };
    return specOf()
      .givenFailure('HOTEL', new RefusedError('No room'))
      .whenStarted(newTrip())
      .thenSteps(
        'FLIGHT',
        { state: 'HOTEL', attempts: 1, failure },
        { state: 'CANCELLING', failure: undefined },
      )
      .thenEnds('CANCELLED', { reason: 'No room' })
      .thenStored(flights, { balance: new Decimal(0) })
      .thenSchedules();
  });

  test('lets a step time out without waiting', async () => {
    const started = performance.now();
    const trip = newTrip();
    const { endedAt } = await specOf({ hotel: { timeoutMs: 3_600_000 } })
      .givenTimeOut('HOTEL')
      .whenStarted(trip)
      .thenSteps('FLIGHT', { state: 'HOTEL', failure: { code: 'TIMED_OUT' } }, 'CANCELLING')
      .thenEnds('CANCELLED')
      .performed();
    expect(endedAt.getTime() - trip.createdDate.getTime()).toBeGreaterThanOrEqual(3_600_000);
    expect(performance.now() - started).toBeLessThan(60_000);
  });

  test('recognises a committed step whose reply was lost', () =>
    specOf()
      .givenLostAnswer('FLIGHT')
      .givenLostAnswer('HOTEL')
      .whenStarted(newTrip())
      .thenEnds('BOOKED')
      .thenStored(flights, { balance: new Decimal(1) })
      .thenStored(hotels, { balance: new Decimal(1) }));

  test('retries a defect, and treats it as a refusal after the last attempt', async () => {
    const spec = specOf({ hotel: { maximumAttempts: 3 } });
    const defect = new TypeError('x is not a function');
    await spec
      .givenFailure('HOTEL', defect, 2)
      .whenStarted(newTrip())
      .thenSteps('FLIGHT', { state: 'HOTEL', attempts: 3, failure: undefined })
      .thenEnds('BOOKED');
    await spec
      .givenFailure('HOTEL', defect)
      .whenStarted(newTrip())
      .thenEnds('CANCELLED', { reason: 'x is not a function' });
  });

  test('parks it if a compensation is refused, and leaves it overdue if its shard is unreachable', async () => {
    const spec = specOf().givenFailure('HOTEL', new RefusedError('No room'));
    await spec
      .givenFailure('CANCELLING', new RefusedError('No way back'))
      .whenStarted(newTrip())
      .thenStuck('parked', 'CANCELLING', { message: 'No way back' })
      .thenStored(flights, { balance: new Decimal(1) });
    await spec.givenTimeOut('CANCELLING').whenStarted(newTrip()).thenStuck('overdue', 'CANCELLING');
  });

  test('runs it as the principal that starts it', async () => {
    const { actions } = await specOf().as({ name: 'alice' }).whenStarted(newTrip()).performed();
    expect(new Set(actions.map(({ principal }) => principal))).toEqual(new Set(['alice']));
  });

  test('reports the difference, at the line of the check', async () => {
    const outcome = specOf().givenFailure('HOTEL', new RefusedError('No room')).whenStarted(newTrip());
    const end = await complaint(outcome.thenEnds('BOOKED'));
    expect(end.message).toContain('Expected the saga to end elsewhere');
    expect(end.message).toContain('ended in CANCELLED');
    expect(end.stack?.split('\n').find((line) => line.includes(' at '))).toContain('saga-spec.test.ts');
    const steps = await complaint(outcome.thenSteps('FLIGHT', 'HOTEL'));
    expect(steps.message).toContain("+     state: 'CANCELLING'");
    const failed = await complaint(
      outcome.thenSteps('FLIGHT', { state: 'HOTEL', failure: undefined }, 'CANCELLING'),
    );
    expect(failed.message).toContain("message: 'No room'");
  });

  test('fails with the error of the starting action, and reports an action that starts no saga', async () => {
    await specOf()
      .when(TripStartAction, { trip: newTrip().to('BOOKED') })
      .thenFails(PlanMisuseError, /no step/);
    const { id } = flights;
    const error = await complaint(specOf().when(BookAction, { supplier: id.getValue(), count: 1 }));
    expect(error.message).toBe('Expected BookAction to start TripSaga, but it did not');
  });

  test('fails if an action queries a database, instead of retrying endlessly', async () => {
    class Counting extends AccountRepository {
      count(): unknown {
        return this.queries(HERE);
      }
    }
    let counting: Counting | undefined;
    const application = tripApplication({ trouble: () => void counting?.count() });
    const spec = specOf(
      {},
      {
        ...application,
        wire: (context, collaborators) => {
          counting = new Counting(context.repositories);
          return application.wire(context, collaborators);
        },
      },
    );
    await expect(spec.whenStarted(newTrip())).rejects.toThrow(DatabaseError);
  });

  test('accepts only states and params of the right saga', () => {
    const spec = specOf();
    // @ts-expect-error there is no such state
    spec.givenTimeOut('TRAIN');
    // @ts-expect-error the params are those of another action
    void spec.when(TripStartAction, { supplier: '' }).catch(() => {});
    const outcome = spec.whenStarted(newTrip());
    // @ts-expect-error there is no such state
    void outcome.thenEnds('TRAIN').catch(() => {});
  });
});
