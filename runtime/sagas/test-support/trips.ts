import { Action } from '../../action/action.js';
import type { ActionDescriptor } from '../../action/action-descriptor.js';
import type { ApplicationDefinition } from '../../application-definition.js';
import { systemClock } from '../../domain/clock.js';
import { Decimal } from '../../domain/decimal.js';
import type { FieldDescriptor } from '../../domain/descriptor.js';
import type { ModelDescriptor } from '../../domain/entity.js';
import { ShardedId } from '../../domain/id.js';
import { Model } from '../../domain/model.js';
import { INITIAL_VERSION } from '../../domain/model-builder.js';
import { ModelEvent } from '../../domain/model-event.js';
import type { Principal } from '../../domain/principal.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { Account } from '../../domain/test-support/account.js';
import { RefusedError } from '../../errors.js';
import { AccountRepository, accountApplication } from '../../execution/test-support/accounts.js';
import { Repository } from '../../persistence/read/repository.js';
import { OwnBuilder, ownColumns } from '../own-model.js';
import { Saga } from '../saga.js';
import { defineSaga } from '../saga-descriptor.js';
import { type SagaStepOptions, type SagaSteps, type SagaWaitOptions, step, wait } from '../saga-step.js';
import { stageStart } from '../stage-saga.js';

/** Two bookings that belong together: if the second one fails, the first is cancelled. */
export type TripState = 'ASKED' | 'FLIGHT' | 'HOTEL' | 'BOOKED' | 'CANCELLING' | 'CANCELLED';

/** The state of a trip's saga. Each booking debits one from the account of its supplier. */
export class Trip extends Model<Trip, ShardedId<Trip>, TripState> {
  readonly flights!: string;
  readonly hotels!: string;
  readonly reason?: string;

  static plan(
    shard: ShardIdentifier,
    flights: string,
    hotels: string,
    state: TripState = 'FLIGHT',
    createdDate: Date = new Date(),
  ): Trip {
    const id = ShardedId.generate(Trip, shard);
    const fields = { id, state, version: INITIAL_VERSION, createdDate, flights, hotels } as const;
    return new OwnBuilder(tripModel).with(fields).withEvent(new TripMoved(id)).build();
  }

  to(state: TripState, reason: string | undefined = this.reason): Trip {
    return this.#copy().with({ state, reason }).withEvent(new TripMoved(this.id)).build();
  }

  approve(): Trip {
    return this.#copy().with({ state: 'FLIGHT' }).withEvent(new TripApproved(this.id)).build();
  }

  /** As `to`, but without an event. */
  silentlyTo(state: TripState): Trip {
    return this.#copy().with({ state }).build();
  }

  #copy(): OwnBuilder<Trip> {
    return new OwnBuilder(tripModel).from(this);
  }
}

export class TripMoved extends ModelEvent<Trip> {
  constructor(id: ShardedId<Trip>) {
    super(id.getValue(), Trip);
  }
}

export class TripApproved extends ModelEvent<Trip> {
  constructor(id: ShardedId<Trip>) {
    super(id.getValue(), Trip);
  }
}

const STATES: readonly TripState[] = ['ASKED', 'FLIGHT', 'HOTEL', 'BOOKED', 'CANCELLING', 'CANCELLED'];

export const tripModel: ModelDescriptor<Trip> = {
  name: 'Trip',
  kind: 'model',
  modelClass: () => Trip,
  table: 'trips',
  sharded: true,
  columns: ownColumns('Trip', STATES, [
    { field: 'flights', column: 'flights', type: { kind: 'uuid' }, sqlType: 'uuid' },
    { field: 'hotels', column: 'hotels', type: { kind: 'uuid' }, sqlType: 'uuid' },
    { field: 'reason', column: 'reason', type: { kind: 'string' }, sqlType: 'text', optional: true },
  ]),
};

/** Starts a saga of the given class. */
export class TripStartAction extends Action<{ readonly trip: Trip }, Trip> {
  readonly #saga: new () => Saga<Trip>;

  constructor(saga: new () => Saga<Trip>) {
    super(systemClock);
    this.#saga = saga;
  }

  protected perform(_principal: Principal, { trip }: { readonly trip: Trip }): Trip {
    return stageStart(this.plan(), new this.#saga(), trip);
  }
}

export interface BookParams {
  readonly supplier: string;
  readonly count: number;
  readonly cardNumber?: string;
}

/** Changes a trip. */
abstract class TripAction extends Action<{ readonly trip: string }, Trip> {
  readonly #trips: Repository<Trip>;

  constructor(trips: Repository<Trip>) {
    super(systemClock);
    this.#trips = trips;
  }

  protected async perform(_principal: Principal, { trip }: { readonly trip: string }): Promise<Trip> {
    return this.plan().update(this.change(await this.#trips.getById(trip)));
  }

  protected abstract change(trip: Trip): Trip;
}

/** Ends the wait for an approval. */
export class TripApproveAction extends TripAction {
  protected change(trip: Trip): Trip {
    if (trip.state !== 'ASKED') throw new RefusedError(`The trip is ${trip.state}`);
    return trip.approve();
  }
}

/** Changes a trip, but not its state. */
export class TripNoteAction extends TripAction {
  protected change(trip: Trip): Trip {
    return trip.to(trip.state, 'noted');
  }
}

/** Called before a booking; its error becomes the booking's error. */
export type Trouble = (params: BookParams) => Promise<void> | void;

/** Adds to the booked count of a supplier; a negative count cancels. */
export class BookAction extends Action<BookParams, void> {
  readonly #accounts: AccountRepository;
  readonly #trouble: Trouble;

  constructor(accounts: AccountRepository, trouble: Trouble) {
    super(systemClock);
    this.#accounts = accounts;
    this.#trouble = trouble;
  }

  protected async perform(_principal: Principal, params: BookParams): Promise<void> {
    const account = await this.#accounts.getById(params.supplier);
    await this.#trouble(params);
    this.plan().update(account.credit(new Decimal(params.count)));
  }
}

/** Parameters that differ between tests. */
export interface TripTerms {
  readonly flight?: Partial<SagaStepOptions<Trip, BookParams>>;
  readonly hotel?: Partial<SagaStepOptions<Trip, BookParams>>;
  readonly asked?: Partial<SagaWaitOptions<Trip>>;
  readonly cancelling?: Partial<SagaStepOptions<Trip, BookParams>>;
  readonly trouble?: Trouble;
  /** Descriptor parts of the booking's params in another release. */
  readonly book?: Pick<ActionDescriptor, 'version' | 'upcasters'>;
  /** States without their step in another release. */
  readonly without?: readonly TripState[];
  /** A second saga of trips, which new ones start. */
  readonly next?: TripTerms;
  readonly name?: string;
  readonly aliases?: readonly string[];
}

/** Books a flight, then a hotel; if the hotel is refused, the flight is cancelled. */
export function tripSaga(terms: TripTerms): new () => Saga<Trip> {
  const account = (id: string): ShardedId<unknown> => ShardedId.of(Account, id);
  return class TripSaga extends Saga<Trip> {
    override readonly name: string = terms.name ?? 'TripSaga';
    override readonly aliases: readonly string[] = terms.aliases ?? [];
    override readonly steps: SagaSteps<Trip> = this.#known({
      ASKED: wait({
        for: [TripApproved],
        until: 60_000,
        expired: (trip, { code }) => trip.to('CANCELLED', code),
        ...terms.asked,
      }),
      FLIGHT: step(BookAction, {
        params: ({ flights }) => ({ supplier: flights, count: 1, cardNumber: '4111' }),
        on: ({ flights }) => account(flights),
        done: (trip) => trip.to('HOTEL'),
        refused: (trip, { message }) => trip.to('CANCELLED', message),
        ...terms.flight,
      }),
      HOTEL: step(BookAction, {
        params: ({ hotels }) => ({ supplier: hotels, count: 1 }),
        on: ({ hotels }) => account(hotels),
        done: (trip) => trip.to('BOOKED'),
        refused: (trip, { message }) => trip.to('CANCELLING', message),
        ...terms.hotel,
      }),
      CANCELLING: step(BookAction, {
        params: ({ flights }) => ({ supplier: flights, count: -1 }),
        on: ({ flights }) => account(flights),
        done: (trip) => trip.to('CANCELLED'),
        ...terms.cancelling,
      }),
    });

    #known(steps: SagaSteps<Trip>): SagaSteps<Trip> {
      const isKnown = ([state]: readonly [string, unknown]) => !terms.without?.some((each) => each === state);
      return Object.fromEntries(Object.entries(steps).filter(isKnown));
    }
  };
}

const BOOK_FIELDS: readonly FieldDescriptor[] = [
  { name: 'supplier', type: { kind: 'uuid' } },
  { name: 'count', type: { kind: 'number' } },
  { name: 'cardNumber', type: { kind: 'string' }, optional: true, secret: true },
];

/** Trips and the accounts of their suppliers, as emitted code would define them. */
export function tripApplication(terms: TripTerms = {}): ApplicationDefinition {
  const sagaClass = tripSaga(terms);
  const nextClass = terms.next && tripSaga(terms.next);
  const actions = (
    accounts: AccountRepository,
    trips: Repository<Trip>,
  ): readonly ActionDescriptor<never, unknown>[] => [
    {
      ...{ name: 'TripStart', actionClass: TripStartAction, params: [] },
      create: () => new TripStartAction(nextClass ?? sagaClass),
    },
    {
      ...{ name: 'Book', actionClass: BookAction, params: BOOK_FIELDS, ...terms.book },
      create: () => new BookAction(accounts, terms.trouble ?? (() => {})),
    },
    ...([TripNoteAction, TripApproveAction] as const).map((actionClass) => ({
      name: actionClass.name.replace('Action', ''),
      actionClass,
      params: [{ name: 'trip', type: { kind: 'uuid' } } as const],
      create: () => new actionClass(trips),
    })),
  ];
  return {
    ...accountApplication,
    models: [...accountApplication.models, tripModel as unknown as ModelDescriptor],
    events: [
      ...accountApplication.events,
      { name: 'TripMoved', model: 'Trip', eventClass: () => TripMoved, fields: [] },
      { name: 'TripApproved', model: 'Trip', eventClass: () => TripApproved, fields: [] },
    ],
    wire: (context, collaborators) => [
      ...accountApplication.wire(context, collaborators),
      ...actions(
        new AccountRepository(context.repositories),
        new Repository(context.repositories, tripModel),
      ),
    ],
    sagas: [sagaClass, ...(nextClass === undefined ? [] : [nextClass])].map((each) =>
      defineSaga(tripModel, each, 'TripSaga'),
    ),
    migrations: [...accountApplication.migrations, TRIPS],
  };
}

const TRIPS = {
  name: '0002_trips',
  up: `create table trips (
    id uuid primary key check (eventlog.is_own_id(id)),
    state text not null,
    version bigint not null,
    flights uuid not null,
    hotels uuid not null,
    reason text,
    failure_code text,
    failure_message text,
    created_date timestamptz not null,
    updated_date timestamptz not null
  )`,
};
