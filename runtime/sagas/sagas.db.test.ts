import { afterEach, expect, test, vi } from 'vitest';
import { describeOn, describeOnEachAdapter } from '../../test/databases/vitest.js';
import { type Application, assembleApplication, openApplication } from '../application.js';
import { Decimal } from '../domain/decimal.js';
import type { LogEntry, Logger } from '../domain/logger.js';
import { RefusedError, ShardUnavailableError } from '../errors.js';
import { until } from '../events/test-support/ledger.js';
import { databasesWithout } from '../events/test-support/unreachable-shard.js';
import { ALICE, HERE, OpenAction, THERE } from '../execution/test-support/accounts.js';
import { collectLog } from '../http/test-support/collect-log.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { OverdueAction } from './overdue-action.js';
import type { SagaSummary } from './sagas.js';
import { endTime, leaveByTime } from './test-support/step-time.js';
import {
  type BookParams,
  Trip,
  TripStartAction,
  type TripTerms,
  tripApplication,
} from './test-support/trips.js';

/** Starting embedded databases takes long on a busy machine. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const open: Application[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.events.stop(0)));
});

function processOf(
  databases: DatabaseRegistry,
  terms: TripTerms = {},
  deliver = true,
  warn: (message: string) => void = () => {},
  log?: Logger,
): Application {
  const application = assembleApplication(tripApplication(terms), databases, {
    namespace: 'test',
    collaborators: {},
    deliver,
    delivery: { leaseMs: 500, surveyMs: 50 },
    execution: { timeoutMs: 10_000 },
    warn,
    ...(log && { log }),
  });
  open.push(application);
  return application;
}

/** A trip whose flights are booked on another shard and whose hotels on its own. */
async function startTrip({ executor }: Application): Promise<Trip> {
  const openAccount = (shard: typeof HERE) =>
    executor.execute(ALICE, OpenAction, { shard, balance: new Decimal(0) });
  const [flights, hotels] = [await openAccount(THERE), await openAccount(HERE)];
  const trip = Trip.plan(HERE, flights.id.getValue(), hotels.id.getValue());
  return executor.execute({ name: 'alice', claims: { desk: 'agent' } }, TripStartAction, { trip });
}

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

const summaryOf = (application: Application, { id }: Trip): Promise<SagaSummary> =>
  application.sagas.show(id.getValue());

const ended = (application: Application, trip: Trip): Promise<void> =>
  until(async () => (await summaryOf(application, trip)).state === 'ENDED');

describeOnEachAdapter('A saga', (harness) => {
  const shards = (): Promise<DatabaseRegistry> =>
    harness.makeShards({ shards: [HERE, THERE], migrations: tripApplication().migrations });

  test('takes its steps in order, each once and by the principal that started it', async () => {
    const databases = await shards();
    const application = processOf(databases);
    const trip = await startTrip(application);
    await ended(application, trip);
    expect(await bookedIn(databases, trip)).toEqual([1, 1, 'BOOKED']);
    const trail = async (shard: typeof HERE): Promise<unknown> => {
      const text =
        "SELECT name, principal, claims, params FROM eventlog.actions WHERE name LIKE 'TripSaga.%'";
      return (await databases.database(shard).query({ text, values: [] })).rows;
    };
    const { flights, hotels } = trip;
    const place = { saga: trip.id.getValue() };
    const agent = ['alice', { desk: 'agent' }];
    // The action rows of sagas leave out secret values, as all action rows do.
    expect([await trail(THERE), await trail(HERE)]).toEqual([
      [['TripSaga.FLIGHT', ...agent, { ...place, stepNumber: 1, params: { supplier: flights, count: 1 } }]],
      [['TripSaga.HOTEL', ...agent, { ...place, stepNumber: 2, params: { supplier: hotels, count: 1 } }]],
    ]);
  });

  test('has time limits that need not be whole milliseconds', async () => {
    const databases = await shards();
    // 95,040,000.00000001
    const application = processOf(databases, { flight: { timeoutMs: 1.1 * 86_400_000 } });
    const trip = await startTrip(application);
    await ended(application, trip);
    expect(await bookedIn(databases, trip)).toEqual([1, 1, 'BOOKED']);
  });

  test('continues during a deployment, with the params of the release that takes the step', async () => {
    const databases = await shards();
    const before = processOf(databases, {
      trouble: ({ supplier }) => {
        if (supplier === trip.hotels) throw new ShardUnavailableError('(0, 0)', 'the release is rolled out');
      },
    });
    const trip = await startTrip(before);
    await until(async () => (await summaryOf(before, trip)).step === 'HOTEL');
    await before.events.stop();
    const after = processOf(databases, {
      book: { version: 2, upcasters: [({ count, ...rest }) => ({ ...rest, count: Number(count) * 2 })] },
      hotel: { params: ({ hotels }) => ({ supplier: hotels, count: 2 }) },
    });
    await ended(after, trip);
    expect(await bookedIn(databases, trip)).toEqual([1, 2, 'BOOKED']);
  });

  test('in a step that a release does not know waits for one that does, while other sagas continue', async () => {
    const databases = await shards();
    let up = false;
    const terms: TripTerms = {
      trouble: ({ supplier }) => {
        if (supplier === trip.hotels && !up) throw new ShardUnavailableError('(0, 0)', 'it is a test');
      },
    };
    const after = processOf(databases, terms);
    const trip = await startTrip(after);
    await until(async () => (await summaryOf(after, trip)).step === 'HOTEL');
    await after.events.stop();
    const warnings: string[] = [];
    const before = processOf(databases, { without: ['HOTEL'] }, true, (message) => warnings.push(message));
    const waits = (): readonly string[] => warnings.filter((each) => each.includes('is in step HOTEL'));
    const lag = async () =>
      (await before.events.lag(HERE))[0]?.consumers.find(({ name }) => name === 'TripSaga');
    await until(async () => (await lag())?.waitingFor?.includes('step HOTEL') === true);
    const other = await startTrip(before);
    await ended(before, other);
    await until(async () => (await lag())?.waitingFor?.includes('step HOTEL') === true);
    expect(waits()).toHaveLength(1);
    expect(await lag()).toMatchObject({ deadLetters: 0, holder: undefined });
    up = true;
    await ended(processOf(databases, terms), trip);
    expect(await bookedIn(databases, trip)).toEqual([1, 1, 'BOOKED']);
    expect(await bookedIn(databases, other)).toEqual([1, 0, 'HOTEL']);
  });

  // An embedded database in memory belongs to one process.
  if (harness.adapter === 'postgresql')
    test('in a step that a release does not have is named when a process of it starts', async () => {
      const topology = await harness.makeTopology({ shards: [HERE, THERE], migrations: [] });
      const openWith = async (terms: TripTerms, warn: (line: string) => void): Promise<Application> =>
        openApplication(tripApplication(terms), {
          ...{ sharding: topology, namespace: 'test', collaborators: {}, warn },
          delivery: { leaseMs: 500, surveyMs: 50 },
        });
      const lines: string[] = [];
      const terms: TripTerms = {
        trouble: ({ supplier }) => {
          if (supplier === trip.hotels) throw new ShardUnavailableError('(0, 0)', 'it is a test');
        },
      };
      const after = await openWith(terms, () => {});
      const trip = await startTrip(after);
      await until(async () => (await summaryOf(after, trip)).step === 'HOTEL');
      const before = await openWith({ without: ['HOTEL'] }, (line) => lines.push(line));
      const same = await openWith(terms, (line) => lines.push(line));
      const renamed = await openWith({ name: 'OtherSaga' }, (line) => lines.push(line));
      for (const each of [after, before, same, renamed]) await each.close();
      const named =
        '1 of TripSaga on shard (0, 0) wait in step HOTEL, which this release does not have, for a process of a ' +
        'release that has it: see fw-gen sagas list --saga TripSaga --step HOTEL';
      expect(lines.filter((line) => line.includes('this release'))).toEqual([named, named]);
    });

  test('keeps its steps in a release that starts sagas of the same model under another name', async () => {
    const databases = await shards();
    const before = processOf(databases, {
      trouble: ({ supplier }) => {
        if (supplier === trip.hotels) throw new ShardUnavailableError('(0, 0)', 'the release is rolled out');
      },
    });
    const trip = await startTrip(before);
    await until(async () => (await summaryOf(before, trip)).step === 'HOTEL');
    await before.events.stop();
    // The second saga has no hotels.
    const after = processOf(databases, { next: { name: 'TripSaga.2', without: ['HOTEL'] } });
    const other = await startTrip(after);
    for (const each of [trip, other]) await ended(after, each);
    expect(await bookedIn(databases, trip)).toEqual([1, 1, 'BOOKED']);
    expect(await bookedIn(databases, other)).toEqual([1, 0, 'HOTEL']);
    expect((await summaryOf(after, other)).saga).toBe('TripSaga.2');
  });

  test('that is parked in an unknown step is retried by a release that knows it, and refused by another', async () => {
    const databases = await shards();
    let broken = true;
    const terms: TripTerms = {
      trouble: ({ supplier, count }) => {
        if (supplier === trip.hotels) throw new RefusedError('No room');
        if (count < 0 && broken) throw new RefusedError('Not refundable');
      },
    };
    const after = processOf(databases, terms);
    const trip = await startTrip(after);
    await until(async () => (await summaryOf(after, trip)).stuck === 'parked');
    const before = processOf(databases, { without: ['CANCELLING'] }, false);
    const refused = before.sagas.retry(ALICE, trip.id.getValue());
    await expect(refused).rejects.toThrow('does not know the step CANCELLING of TripSaga');
    broken = false;
    expect(await after.sagas.retry(ALICE, trip.id.getValue())).toBe(true);
    await ended(after, trip);
    expect(await before.sagas.retry(ALICE, trip.id.getValue())).toBe(false);
  });

  test('whose dead letter is retried by a release without its step waits for one that has it', async () => {
    const databases = await shards();
    const mistake = (): never => {
      throw new TypeError('a mistake');
    };
    const wrong = processOf(databases, { hotel: { params: mistake } });
    const trip = await startTrip(wrong);
    await until(async () => (await summaryOf(wrong, trip)).stuck === 'dead-letter');
    await wrong.events.stop();
    const before = processOf(databases, { without: ['HOTEL'] });
    await before.events.deadLetters.retry({ handler: 'TripSaga' });
    const lag = async () =>
      (await before.events.lag(HERE))[0]?.consumers.find(({ name }) => name === 'TripSaga');
    await until(async () => (await lag())?.waitingFor?.includes('step HOTEL') === true);
    await before.events.stop();
    await ended(processOf(databases), trip);
    expect(await bookedIn(databases, trip)).toEqual([1, 1, 'BOOKED']);
  });

  test('that is abandoned in an unknown step holds back nothing', async () => {
    const databases = await shards();
    const after = processOf(databases, {
      trouble: ({ supplier }) => {
        if (supplier === trip.hotels) throw new ShardUnavailableError('(0, 0)', 'it is a test');
      },
    });
    const trip = await startTrip(after);
    await until(async () => (await summaryOf(after, trip)).step === 'HOTEL');
    await after.events.stop();
    const before = processOf(databases, { without: ['HOTEL'] });
    const lag = async () =>
      (await before.events.lag(HERE))[0]?.consumers.find(({ name }) => name === 'TripSaga');
    await until(async () => (await lag())?.waitingFor !== undefined);
    await before.sagas.abandon(ALICE, trip.id.getValue(), 'removed');
    await until(async () => (await lag())?.behind === 0);
  });

  test('compensates earlier steps when a later step is refused', async () => {
    const databases = await shards();
    const application = processOf(databases, {
      trouble: ({ supplier }) => {
        if (supplier === trip.hotels) throw new RefusedError('No room');
      },
    });
    const trip = await startTrip(application);
    await ended(application, trip);
    expect(await bookedIn(databases, trip)).toEqual([0, 0, 'CANCELLED']);
    expect((await summaryOf(application, trip)).failure).toEqual({ code: 'FW_REFUSED', message: 'No room' });
  });

  test('retries passing errors until the time of the step is over', async () => {
    const databases = await shards();
    let calls = 0;
    const application = processOf(databases, {
      hotel: { maximumAttempts: 1 },
      trouble: ({ supplier }) => {
        if (supplier !== trip.hotels) return;
        calls += 1;
        throw new ShardUnavailableError('(0, 0)', 'it is a test');
      },
    });
    const trip = await startTrip(application);
    await until(() => calls > 1);
    await leaveByTime(application, HERE, trip.id.getValue());
    await ended(application, trip);
    expect(await bookedIn(databases, trip)).toEqual([0, 0, 'CANCELLED']);
    expect((await summaryOf(application, trip)).failure?.code).toBe('TIMED_OUT');
  });

  test('attempts a step whose time is over before anybody could attempt it', async () => {
    const databases = await shards();
    const starter = processOf(databases, {}, false);
    const trip = await startTrip(starter);
    await endTime(starter, HERE, trip.id.getValue());
    await starter.executor.execute(ALICE, OverdueAction, { saga: trip.id.getValue(), stepNumber: 1 });
    const worker = processOf(databases);
    await ended(worker, trip);
    expect(await bookedIn(databases, trip)).toEqual([1, 1, 'BOOKED']);
  });

  test('does not wait for a step whose time is over, and its late action has no effect', async () => {
    const databases = await shards();
    const { gate, release } = gateOf();
    let attempts = 0;
    const application = processOf(databases, {
      trouble: async () => {
        attempts += 1;
        await gate;
      },
    });
    const trip = await startTrip(application);
    await until(() => attempts > 0);
    await leaveByTime(application, HERE, trip.id.getValue());
    await ended(application, trip);
    release();
    await application.events.stop();
    await application.executor.close();
    expect(await bookedIn(databases, trip)).toEqual([0, 0, 'CANCELLED']);
  });

  test('ignores a late action on its own shard, too, at any later step', async () => {
    const databases = await shards();
    const { gate, release } = gateOf();
    let attempts = 0;
    const application = processOf(databases, {
      trouble: async ({ supplier }) => {
        if (supplier !== trip.hotels) return;
        attempts += 1;
        await gate;
      },
    });
    const trip = await startTrip(application);
    await until(() => attempts > 0);
    await leaveByTime(application, HERE, trip.id.getValue());
    await until(async () => (await summaryOf(application, trip)).step === 'CANCELLING');
    release();
    await ended(application, trip);
    expect(await bookedIn(databases, trip)).toEqual([0, 0, 'CANCELLED']);
  });

  test('abandons an apparently defective step after its maximum attempts', async () => {
    const databases = await shards();
    const calls: BookParams[] = [];
    const entries: LogEntry[] = [];
    const terms: TripTerms = {
      flight: { maximumAttempts: 2 },
      trouble: (params) => {
        calls.push(params);
        throw new TypeError('a mistake');
      },
    };
    const application = processOf(databases, terms, true, () => {}, collectLog(entries));
    const trip = await startTrip(application);
    await ended(application, trip);
    expect(calls.length).toBeGreaterThanOrEqual(2);
    expect((await summaryOf(application, trip)).failure).toEqual({ code: 'UNKNOWN', message: 'a mistake' });
    const entry = {
      message: 'step FLIGHT has failed',
      error: 'a mistake',
      stack: expect.stringContaining('at '),
    };
    expect(entries).toContainEqual(expect.objectContaining(entry));
  });

  test('whose compensation fails is parked and listed, and continues after a retry', async () => {
    const databases = await shards();
    let broken = true;
    const application = processOf(databases, {
      trouble: ({ supplier, count }) => {
        if (supplier === trip.hotels) throw new RefusedError('No room');
        if (count < 0 && broken) throw new RefusedError('Not refundable');
      },
    });
    const trip = await startTrip(application);
    await until(async () => (await summaryOf(application, trip)).stuck === 'parked');
    expect((await application.sagas.list({ stuck: true })).items).toMatchObject([
      { id: trip.id.getValue(), state: 'PARKED', step: 'CANCELLING', failure: { message: 'Not refundable' } },
    ]);
    expect(await bookedIn(databases, trip)).toEqual([1, 0, 'CANCELLING']);
    broken = false;
    expect(await application.sagas.retry({ name: 'operator' }, trip.id.getValue())).toBe(true);
    await ended(application, trip);
    expect(await bookedIn(databases, trip)).toEqual([0, 0, 'CANCELLED']);
  });

  test('whose step can only succeed keeps retrying after its time, and is shown as overdue', async () => {
    const databases = await shards();
    let broken = true;
    const application = processOf(databases, {
      cancelling: { timeoutMs: 100 },
      trouble: ({ supplier, count }) => {
        if (supplier === trip.hotels) throw new RefusedError('No room');
        if (count < 0 && broken) throw new ShardUnavailableError('(1, 0)', 'it is a test');
      },
    });
    const trip = await startTrip(application);
    await until(async () => (await summaryOf(application, trip)).stuck === 'overdue');
    broken = false;
    await ended(application, trip);
    expect(await bookedIn(databases, trip)).toEqual([0, 0, 'CANCELLED']);
  });

  test('has the full time limit in a retry, although the old time-out event still arrives', async () => {
    const databases = await shards();
    let calls = 0;
    const hurried = processOf(databases, { flight: { timeoutMs: 1 } }, false);
    const trip = await startTrip(hurried);
    await until(async () => (await summaryOf(hurried, trip)).stuck === 'overdue');
    const overdue = { saga: trip.id.getValue(), stepNumber: 1 };
    await hurried.executor.execute(ALICE, OverdueAction, overdue);
    const patient = processOf(databases, {}, false);
    expect(await patient.sagas.retry(ALICE, overdue.saga)).toBe(true);
    await patient.executor.execute(ALICE, OverdueAction, overdue);
    const worker = processOf(databases, {
      trouble: () => {
        calls += 1;
        if (calls < 6) throw new ShardUnavailableError('(1, 0)', 'it is a test');
      },
    });
    await ended(worker, trip);
    expect(await bookedIn(databases, trip)).toEqual([1, 1, 'BOOKED']);
  });

  test('whose step returns an invalid state becomes a dead letter, and is shown', async () => {
    const databases = await shards();
    const application = processOf(databases, {
      flight: { done: (trip) => trip.silentlyTo('HOTEL') },
    });
    const trip = await startTrip(application);
    await until(async () => (await summaryOf(application, trip)).stuck === 'dead-letter');
    const [letter] = await application.events.deadLetters.list({ handler: 'TripSaga' });
    expect(letter).toMatchObject({ modelId: trip.id.getValue(), errorCode: 'FW_PLAN_MISUSE' });
    await application.events.stop();
    const repaired = processOf(databases);
    await repaired.events.deadLetters.retry({ handler: 'TripSaga' });
    await ended(repaired, trip);
    expect(await bookedIn(databases, trip)).toEqual([1, 1, 'BOOKED']);
  });

  test('continues under a new name', async () => {
    const databases = await shards();
    const before = processOf(databases, {
      trouble: () => {
        throw new ShardUnavailableError('(1, 0)', 'it is a test');
      },
    });
    const trip = await startTrip(before);
    await before.events.stop();
    const after = processOf(databases, { name: 'JourneySaga', aliases: ['TripSaga'] });
    await ended(after, trip);
    expect(await bookedIn(databases, trip)).toEqual([1, 1, 'BOOKED']);
  });
});

function gateOf(): { readonly gate: Promise<void>; readonly release: () => void } {
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { gate, release };
}

describeOn('postgresql', 'A saga whose step needs a shard that is down', (harness) => {
  test('gives the step up after its time as soon as the shard is back, and does not attempt it again', async () => {
    const { migrations } = tripApplication();
    const topology = await harness.makeTopology({ shards: [HERE, THERE], migrations });
    let isDown = false;
    let refused = 0;
    const databases = databasesWithout(topology, THERE, () => {
      if (isDown) refused += 1;
      return isDown;
    });
    let attempts = 0;
    const application = processOf(databases, {
      flight: { timeoutMs: 1_500 },
      trouble: ({ count }) => {
        if (count < 0) return;
        attempts += 1;
        isDown = true;
      },
    });
    try {
      const trip = await startTrip(application);
      await until(async () => (await summaryOf(application, trip)).stuck === 'overdue');
      const before = refused;
      // Some have tried to give the step up, and have failed.
      await until(() => refused > before + 3);
      const made = attempts;
      isDown = false;
      await ended(application, trip);
      expect(await bookedIn(databases, trip)).toEqual([0, 0, 'CANCELLED']);
      expect((await summaryOf(application, trip)).failure?.code).toBe('TIMED_OUT');
      expect(attempts).toBe(made);
    } finally {
      await application.events.stop(0);
      await databases.close(0);
    }
  });
});
