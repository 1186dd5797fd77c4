import { expect, test } from 'vitest';
import { describeOn } from '../../test/databases/vitest.js';
import { type Application, assembleApplication } from '../application.js';
import { Decimal } from '../domain/decimal.js';
import { type Account, AccountCredited, newAccount } from '../domain/test-support/account.js';
import { RefusedError, ShardUnavailableError } from '../errors.js';
import { until } from '../events/test-support/ledger.js';
import {
  AccountRepository,
  ALICE,
  CreditAction,
  HERE,
  OpenAction,
  THERE,
} from '../execution/test-support/accounts.js';
import { Repository } from '../persistence/read/repository.js';
import type { Saga } from '../sagas/saga.js';
import { leaveByTime } from '../sagas/test-support/step-time.js';
import {
  Trip,
  TripStartAction,
  type Trouble,
  tripApplication,
  tripModel,
} from '../sagas/test-support/trips.js';
import { applicationSpecs } from './application-specs.js';
import { recordedCalls } from './recorded-calls.js';
import { BonusHandler, bonusApplication, type Letters } from './test-support/bonuses.js';
import { VirtualClock } from './virtual-clock.js';

/** The behaviour of bookings; attempts are numbered from 1. */
interface Scenario {
  readonly flights?: (count: number, attempt: number) => void;
  readonly hotels?: (count: number, attempt: number) => void;
  /** The step's time is over after its second attempt. */
  readonly timesOut?: true;
}

const fail = (error: Error): never => {
  throw error;
};
const noRoom = (): never => fail(new RefusedError('No room'));
const unreachable = (): never => fail(new ShardUnavailableError('of the booking', 'it is a test'));

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'nothing goes wrong': {},
  'a refusal on the shard of the saga': { hotels: noRoom },
  'a refusal on another shard': { flights: noRoom },
  'a defect that comes once': {
    hotels: (_, attempt) => (attempt === 1 ? fail(new TypeError('once')) : undefined),
  },
  'a defect that stays': { hotels: () => fail(new TypeError('it stays')) },
  'a shard of the saga that is out of reach until the time is over': {
    hotels: unreachable,
    timesOut: true,
  },
  'another shard that is out of reach until the time is over': {
    flights: unreachable,
    timesOut: true,
  },
  'a compensation that is refused': {
    hotels: noRoom,
    flights: (count) => (count < 0 ? noRoom() : undefined),
  },
};

/** All scenarios share one application and differ by the suppliers of their trips. */
const troubles = new Map<string, Trouble>();
const trips = tripApplication({
  hotel: { maximumAttempts: 2 },
  trouble: (params) => troubles.get(params.supplier)?.(params),
});

/** The facts that must be equal in the kit and the runtime; ids and times differ. */
interface Facts {
  readonly ending: string;
  readonly trip: { readonly state: string; readonly version: number; readonly reason: string | undefined };
  /** Balance and version. */
  readonly flights: readonly [string, number];
  readonly hotels: readonly [string, number];
  /** Events of trip, flights and hotels, each with the model version that it produced. */
  readonly events: readonly (readonly string[])[];
  readonly actions: readonly string[];
}

const factsOf = ({ balance, version }: Account): readonly [string, number] => [balance.toFixed(), version];
const factsOfTrip = ({ state, version, reason }: Trip): Facts['trip'] => ({
  state,
  version,
  reason: reason?.replace(/\d{4}-.*Z/, '<deadline>'),
});
const unique = (names: readonly string[]): readonly string[] => [...new Set(names)].sort();

/** @returns the number of attempts so far of the supplier with the most */
function meet(
  { flights, hotels }: Scenario,
  on: { readonly flights: string; readonly hotels: string },
): () => number {
  const attempts = new Map<string, number>();
  const sides = [[on.flights, flights] as const, [on.hotels, hotels] as const];
  for (const [supplier, trouble] of sides) {
    troubles.set(supplier, ({ count }) => {
      const attempt = (attempts.get(supplier) ?? 0) + 1;
      attempts.set(supplier, attempt);
      trouble?.(count, attempt);
    });
  }
  return () => Math.max(0, ...attempts.values());
}

async function inMemory(scenario: Scenario): Promise<Facts> {
  const [flights, hotels] = [newAccount(new Decimal(0), THERE), newAccount(new Decimal(0), HERE)].map(
    (each) => each.build(),
  );
  if (flights === undefined || hotels === undefined) throw new TypeError('Two were made');
  const trip = Trip.plan(HERE, flights.id.getValue(), hotels.id.getValue());
  meet(scenario, trip);
  const sagaClass = trips.sagas?.[0]?.create().constructor as new () => Saga<Trip>;
  const outcome = applicationSpecs(trips, { clock: new VirtualClock(new Date()), shards: [HERE, THERE] })
    .saga(sagaClass)
    .given(flights, hotels)
    .as(ALICE)
    .when(TripStartAction, { trip });
  const { ending, result, stored, items, actions } = await outcome.performed();
  const eventsOf = (id: string): readonly string[] =>
    items.flatMap((item) =>
      item.kind === 'expect' || item.model.id.getValue() !== id
        ? []
        : item.events.map((event) => `${event.constructor.name} ${item.model.version}`),
    );
  return {
    ending,
    trip: factsOfTrip(result),
    flights: factsOf(stored(flights) ?? flights),
    hotels: factsOf(stored(hotels) ?? hotels),
    events: [trip, flights, hotels].map(({ id }) => eventsOf(id.getValue())),
    actions: unique(actions.map(({ name, principal }) => `${name} by ${principal}`)),
  };
}

async function onDatabases(application: Application, scenario: Scenario): Promise<Facts> {
  const { executor, repositories, eventHistory, sagas } = application;
  const open = (shard: typeof HERE): Promise<Account> =>
    executor.execute(ALICE, OpenAction, { shard, balance: new Decimal(0) });
  const [flights, hotels] = [await open(THERE), await open(HERE)];
  const trip = Trip.plan(HERE, flights.id.getValue(), hotels.id.getValue());
  const attempts = meet(scenario, trip);
  await executor.execute(ALICE, TripStartAction, { trip });
  const id = trip.id.getValue();
  if (scenario.timesOut === true) {
    await until(() => attempts() > 1);
    await leaveByTime(application, HERE, id);
  }
  await until(async () => (await sagas.show(id)).state !== 'RUNNING');
  const accounts = new AccountRepository(repositories);
  const events = [trip, flights, hotels].map(async (model) => {
    const { items } = await eventHistory.of(model.id);
    return items.map(({ eventType, modelVersion }) => `${eventType} ${modelVersion}`);
  });
  return {
    ending: (await sagas.show(id)).state.toLowerCase(),
    trip: factsOfTrip(await new Repository(repositories, tripModel).getById(trip.id)),
    flights: factsOf(await accounts.getById(flights.id)),
    hotels: factsOf(await accounts.getById(hotels.id)),
    events: await Promise.all(events),
    actions: await actionsOf(application, id),
  };
}

/** Actions with an effect: an attempt that finds its work done may or may not leave a row. */
async function actionsOf({ databases }: Application, saga: string): Promise<readonly string[]> {
  const text = `SELECT DISTINCT a.name || ' by ' || a.principal FROM eventlog.actions a
    WHERE a.status = 'committed' AND a.params ->> 'saga' = $1`;
  const rows = [HERE, THERE].map(
    async (shard) => (await databases.database(shard).query({ text, values: [saga] })).rows,
  );
  const names = (await Promise.all(rows)).flat().map(([name]) => String(name));
  return unique([...names, 'TripStart by alice']);
}

describeOn('postgresql', 'The test kit and the runtime', (harness) => {
  test('run a saga in the same way, in every scenario', async () => {
    const databases = await harness.makeShards({ shards: [HERE, THERE], migrations: trips.migrations });
    const application = assembleApplication(trips, databases, {
      namespace: 'test',
      collaborators: {},
      delivery: { leaseMs: 60_000, surveyMs: 50 },
      execution: { timeoutMs: 10_000 },
      warn: () => {},
    });
    try {
      const names = Object.keys(SCENARIOS);
      const scenarios = Object.values(SCENARIOS);
      const real = await Promise.all(scenarios.map((scenario) => onDatabases(application, scenario)));
      const simulated = await Promise.all(scenarios.map(inMemory));
      names.forEach((name, index) => {
        expect({ name, ...simulated[index] }).toEqual({ name, ...real[index] });
      });
      expect(unique(real.map(({ ending, trip }) => `${ending} ${trip.state}`))).toEqual([
        'ended BOOKED',
        'ended CANCELLED',
        'parked CANCELLING',
      ]);
    } finally {
      await application.events.stop(0);
    }
  });

  test('deliver to a handler in the same way, and redeliver too', async () => {
    const sent: string[] = [];
    const letters: Letters = { send: async (_, text) => void sent.push(text) };
    const amount = new Decimal(50);

    const account = newAccount(new Decimal(100), HERE).build();
    const event = new AccountCredited(account.id, amount);
    const { stored, calls, runs, events } = await applicationSpecs(bonusApplication, {
      collaborators: { letters: recordedCalls(letters) },
    })
      .handler(BonusHandler)
      .given(account)
      .when(event, event)
      .performed();
    expect([runs.length, calls.length, sent.splice(0).length]).toEqual([4, 2, 2]);

    const databases = await harness.makeShards({ shards: [HERE], migrations: bonusApplication.migrations });
    const application = assembleApplication(bonusApplication, databases, {
      namespace: 'test',
      collaborators: { letters },
      delivery: { surveyMs: 50 },
      execution: { timeoutMs: 10_000 },
      warn: () => {},
    });
    try {
      const { executor, eventHistory, repositories } = application;
      const opened = await executor.execute(ALICE, OpenAction, { shard: HERE, balance: new Decimal(50) });
      await executor.execute(ALICE, CreditAction, { account: opened.id.getValue(), amount });
      const read = (): Promise<Account> => new AccountRepository(repositories).getById(opened.id);
      await until(async () => (await read()).version === 4);
      await until(async () =>
        (await application.events.lag()).every(({ consumers }) =>
          consumers.every(({ behind }) => behind === 0),
        ),
      );
      await application.events.replay('BonusHandler', { model: opened.id });
      await until(() => sent.length === 2);
      const real = await read();
      expect(stored(account)?.balance.toFixed()).toBe(real.balance.toFixed());
      const history = (await eventHistory.of(opened.id)).items.slice(-2);
      const shown = events.map((each) => ({
        type: each.constructor.name,
        payload: { amount: String(Object(each).amount) },
      }));
      expect(shown).toEqual(history.map(({ eventType: type, payload }) => ({ type, payload })));
    } finally {
      await application.events.stop(0);
    }
  });
});
