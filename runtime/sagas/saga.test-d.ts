import { expectTypeOf } from 'vitest';
import { Action } from '../action/action.js';
import type { ActionPlan } from '../action/action-plan.js';
import type { ModelDescriptor } from '../domain/entity.js';
import { type Account, AccountCredited } from '../domain/test-support/account.js';
import { Saga } from './saga.js';
import { defineSaga } from './saga-descriptor.js';
import { type SagaFailure, type SagaSteps, step, wait } from './saga-step.js';
import { type Trip, TripApproved, tripModel } from './test-support/trips.js';

interface CarryParams {
  readonly from: string;
  readonly weight?: number;
}

class CarryAction extends Action<CarryParams, number> {
  protected perform(): number {
    return 1;
  }
}

class TripSaga extends Saga<Trip> {
  override readonly steps: SagaSteps<Trip> = {
    FLIGHT: step(CarryAction, {
      params: (trip) => {
        expectTypeOf(trip).toEqualTypeOf<Trip>();
        return { from: trip.flights };
      },
      done: (trip) => trip.to('HOTEL'),
      refused: (trip, failure) => {
        expectTypeOf(failure).toEqualTypeOf<SagaFailure>();
        return trip.to('CANCELLED', failure.message);
      },
    }),
  };
}

export const waits: SagaSteps<Trip> = {
  ASKED: wait({
    for: [TripApproved],
    until: (trip) => {
      expectTypeOf(trip).toEqualTypeOf<Trip>();
      return trip.createdDate;
    },
    expired: (trip, { code }) => trip.to('CANCELLED', code),
  }),
  // @ts-expect-error an event of another model
  FLIGHT: wait({ for: [AccountCredited], until: 1, expired: (trip: Trip) => trip.to('CANCELLED') }),
  // @ts-expect-error without an end
  HOTEL: wait({ for: [TripApproved], expired: (trip: Trip) => trip.to('CANCELLED') }),
};

const done = (trip: Trip): Trip => trip.to('BOOKED');

export const withoutParams: SagaSteps<Trip> = {
  // @ts-expect-error the action requires `from`
  HOTEL: step(CarryAction, { params: () => ({ weight: 1 }), done }),
};

export const withOtherParams: SagaSteps<Trip> = {
  // @ts-expect-error `from` is a text
  HOTEL: step(CarryAction, { params: () => ({ from: 1 }), done }),
};

export const withoutNext: SagaSteps<Trip> = {
  // @ts-expect-error `done` returns a state model, not its name
  HOTEL: step(CarryAction, { params: () => ({ from: '' }), done: () => 'BOOKED' }),
};

export const inNoState: SagaSteps<Trip> = {
  // @ts-expect-error a trip has no such state
  LOST: step(CarryAction, { params: () => ({ from: '' }), done }),
};

declare const plan: ActionPlan;
declare const trip: Trip;
declare const account: Account;
declare const accountModel: ModelDescriptor<Account>;

expectTypeOf(TripSaga.start(plan, trip)).toEqualTypeOf<Trip>();
// @ts-expect-error an account is not the saga's state model
TripSaga.start(plan, account);

defineSaga(tripModel, TripSaga, 'TripSaga');
// @ts-expect-error an account is not the saga's state model
defineSaga(accountModel, TripSaga, 'TripSaga');
