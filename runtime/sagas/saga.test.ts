import { describe, expect, test } from 'vitest';
import { ActionPlan } from '../action/action-plan.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { AccountCredited } from '../domain/test-support/account.js';
import {
  DeadlineExceededError,
  PlanMisuseError,
  PreconditionFailedError,
  RefusedError,
  StaleModelError,
  UniqueViolationError,
  UnknownShardError,
} from '../errors.js';
import { persisted } from '../testing/persisted.js';
import { VirtualClock } from '../testing/virtual-clock.js';
import { OverdueAction } from './overdue-action.js';
import { defineSaga } from './saga-descriptor.js';
import { SagaRun, termsOf } from './saga-run.js';
import { SagaRuntime } from './saga-runtime.js';
import { stepOf } from './saga-step.js';
import { stageMove, stageStart } from './stage-saga.js';
import { failureKind } from './step-failure.js';
import { stepRecordId } from './step-record.js';
import { Trip, tripApplication, tripModel, tripSaga } from './test-support/trips.js';

const HERE = ShardIdentifier.of(0, 0);
const THERE = ShardIdentifier.of(200, 63);
const SUPPLIER = '019b0000-0000-7000-8000-000000000001';
const clock = new VirtualClock();
const TripSaga = tripSaga({ flight: { timeoutMs: 5_000 } });

const newTrip = (): Trip => Trip.plan(HERE, SUPPLIER, SUPPLIER);

describe('The start of a saga', () => {
  test('stages state, progress and time-out in one plan', () => {
    const plan = new ActionPlan(clock);
    const trip = stageStart(plan, new TripSaga(), newTrip());
    expect(plan.items.map(({ kind, model }) => [kind, model.constructor, model.id.getValue()])).toEqual([
      ['add', Trip, trip.id.getValue()],
      ['add', SagaRun, trip.id.getValue()],
    ]);
    const dueDate = new Date(clock.now().getTime() + 5_000);
    const params = { saga: trip.id.getValue(), stepNumber: 1 };
    expect(plan.schedules).toEqual([{ dueDate, afterMs: 5_000, actionClass: OverdueAction, params }]);
  });

  test('is refused in a state without a step', () => {
    expect(stepOf({ name: 'TripSaga', steps: {} }, 'constructor')).toBeUndefined();
    const plan = new ActionPlan(clock);
    expect(() => stageStart(plan, new TripSaga(), newTrip().to('BOOKED'))).toThrow(
      /TripSaga cannot start in state BOOKED/,
    );
    expect(plan.items).toEqual([]);
  });

  test('is refused without an event, because no process would run the step', () => {
    expect(() => stageStart(new ActionPlan(clock), new TripSaga(), persisted(newTrip()))).toThrow(
      /TripSaga would stop in state FLIGHT: attach an event/,
    );
  });
});

describe('A move', () => {
  const from = persisted(newTrip());
  const run = SagaRun.start(from.id.getValue(), 'TripSaga', clock.now(), termsOf('FLIGHT', 1, clock.now()));
  const move = (to: Trip): ActionPlan => {
    const plan = new ActionPlan(clock);
    stageMove(plan, new TripSaga(), { run, from, to, failure: undefined });
    return plan;
  };

  test('to a state with a step sets the deadline of that step', () => {
    const plan = move(from.to('HOTEL'));
    const deadline = new Date(clock.now().getTime() + 60_000);
    expect(plan.items[0]?.model).toMatchObject({ state: 'RUNNING', step: 'HOTEL', stepNumber: 2, deadline });
    expect(plan.schedules).toMatchObject([{ dueDate: deadline, params: { stepNumber: 2 } }]);
  });

  test('to a state without a step ends the saga', () => {
    const plan = move(from.to('BOOKED'));
    expect(plan.items[0]?.model).toMatchObject({ state: 'ENDED', step: 'BOOKED', deadline: undefined });
    expect(plan.schedules).toEqual([]);
  });

  test('from a state that another writer has changed is refused', () => {
    const changed = persisted(newTrip().to('HOTEL'));
    const plan = new ActionPlan(clock);
    expect(() =>
      stageMove(plan, new TripSaga(), { run, from: changed, to: changed.to('BOOKED'), failure: undefined }),
    ).toThrow(/is in state HOTEL, but TripSaga left it in FLIGHT/);
  });

  test('to the same state, or without an event, is refused', () => {
    expect(() => move(from.to('FLIGHT'))).toThrow(PlanMisuseError);
    expect(() => move(from.silentlyTo('HOTEL'))).toThrow(PlanMisuseError);
  });
});

describe('The record of a step', () => {
  const saga = newTrip().id.getValue();

  test('has one id per shard, which belongs to that shard', () => {
    const place = { saga, stepNumber: 3, step: 'HOTEL' };
    const id = stepRecordId(place, THERE);
    expect(id.resolveShardIdentifier()).toBe(THERE);
    expect(stepRecordId(place, THERE).getValue()).toBe(id.getValue());
  });

  test('differs from those of other steps and other sagas', () => {
    const places = [saga, newTrip().id.getValue()].flatMap((each) =>
      [1, 2, 3].map((stepNumber) => ({ saga: each, stepNumber, step: '' })),
    );
    expect(new Set(places.map((place) => stepRecordId(place, THERE).getValue())).size).toBe(6);
  });
});

test.each([
  ['a refusal of the domain', new RefusedError('no'), 'refusal'],
  ['a unique value of the domain', new UniqueViolationError('', { table: 'steps' }), 'refusal'],
  [
    'a record that another process wrote first',
    new UniqueViolationError('', { table: 'saga_steps' }),
    'passing',
  ],
  ['a lost race', new StaleModelError('Book', 'Trip'), 'passing'],
  ['a shard that the process may learn of', new UnknownShardError('(1, 0)'), 'passing'],
  ['time that is up', new DeadlineExceededError(''), 'passing'],
  ['a version that the step no longer finds', new PreconditionFailedError(''), 'refusal'],
  ['a plan that can never be right', new PlanMisuseError(''), 'defect'],
  ['a mistake', new TypeError(''), 'defect'],
])('%s is distinguished from the others', (_, error, kind) => {
  expect(failureKind(error)).toBe(kind);
});

describe('An application', () => {
  const { events, wire } = tripApplication();
  const runtimeOf = (...sagas: readonly (new () => InstanceType<typeof TripSaga>)[]): SagaRuntime => {
    const context = undefined as never;
    const wiring = {
      clock,
      repositories: context,
      eventHistory: undefined as never,
      placement: undefined as never,
    };
    const descriptors = sagas.map((saga) => defineSaga(tripModel, saga, 'TripSaga'));
    return new SagaRuntime({ sagas: descriptors, events, actions: wire(wiring, {}), context, clock });
  };

  test('may have several sagas, whose names and earlier names differ', () => {
    const renamed = tripSaga({ name: 'JourneySaga', aliases: ['TripSaga'] });
    expect(() => runtimeOf(TripSaga, renamed)).toThrow('Two sagas are named TripSaga');
    expect(
      runtimeOf(renamed)
        .handlers(undefined as never)
        .map(({ name, aliases }) => [name, aliases]),
    ).toEqual([['JourneySaga', ['TripSaga']]]);
  });

  test('cannot have a saga with an invalid name, invalid time limits or unknown actions', () => {
    expect(() => runtimeOf(tripSaga({ name: 'Trip Saga' }))).toThrow(
      /name has 1 to 80 visible ASCII characters/,
    );
    for (const limit of [Number.POSITIVE_INFINITY, Number.NaN, -1]) {
      const message = (state: string): string => `TripSaga has the time limit ${limit} in ${state}`;
      expect(() => runtimeOf(tripSaga({ flight: { timeoutMs: limit } }))).toThrow(message('FLIGHT'));
      expect(() => runtimeOf(tripSaga({ asked: { until: limit } }))).toThrow(message('ASKED'));
    }
    const context = undefined as never;
    const sagas = [defineSaga(tripModel, TripSaga, 'TripSaga')];
    expect(() => new SagaRuntime({ sagas, events, actions: [], context, clock })).toThrow(
      /TripSaga runs BookAction in state FLIGHT, which is no action of the application/,
    );
    const waiting = tripSaga({ asked: { for: [AccountCredited as never] } });
    expect(() => runtimeOf(waiting)).toThrow(
      'TripSaga waits in ASKED for AccountCredited, which is no event of its model',
    );
    expect(() => new SagaRuntime({ sagas, events: [], actions: [], context, clock })).toThrow(
      /TripSaga needs a state model with events/,
    );
  });
});
