import { beforeEach, expect, test } from 'vitest';
import { describeOn, describeOnEachAdapter } from '../../test/databases/vitest.js';
import { type Application, openApplication } from '../application.js';
import { gate } from '../concurrency/test-support/gate.js';
import { ShardedId, shardOfUuid } from '../domain/id.js';
import { uuid7 } from '../domain/id-source.js';
import type { LogEntry } from '../domain/logger.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { DatabaseError, RefusedError, ShardUnavailableError, UnknownShardError } from '../errors.js';
import type { ConsumerLag } from '../events/lag.js';
import { databasesWithout } from '../events/test-support/faulty-databases.js';
import { until } from '../events/test-support/ledger.js';
import { ALICE, HERE, THERE } from '../execution/test-support/accounts.js';
import { collectLog } from '../http/test-support/collect-log.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { OverdueAction } from './overdue-action.js';
import { stepRecordId } from './step-record.js';
import { endTime, leaveByTime } from './test-support/step-time.js';
import {
  bookedIn,
  ended,
  startTrip,
  summaryOf,
  tripProcess,
  tripShards,
} from './test-support/trip-process.js';
import { type BookParams, type Trip, type TripTerms, tripApplication } from './test-support/trips.js';

const SILENT = { deliver: false } as const;

/** Hotels are on the shard of their trip. */
const isHotel = ({ supplier }: BookParams): boolean => shardOfUuid(supplier) === HERE;

/** Hotels cannot be booked for now. */
const HOTELS_DOWN: TripTerms = {
  trouble: (booking) => {
    if (isHotel(booking)) throw new ShardUnavailableError('(0, 0)', 'it is a test');
  },
};

/** Hotels are full, and flights cannot be cancelled while `isBroken`. */
function notRefundable(isBroken: () => boolean): TripTerms {
  return {
    trouble: (booking) => {
      if (isHotel(booking)) throw new RefusedError('No room');
      if (booking.count < 0 && isBroken()) throw new RefusedError('Not refundable');
    },
  };
}

/** A trip in step HOTEL, whose process has stopped. */
async function tripAtHotel(databases: DatabaseRegistry): Promise<Trip> {
  const process = tripProcess(databases, HOTELS_DOWN);
  const trip = await startTrip(process);
  await until(async () => (await summaryOf(process, trip)).step === 'HOTEL');
  await process.events.stop();
  return trip;
}

async function lagOf({ events }: Application): Promise<ConsumerLag | undefined> {
  return (await events.lag(HERE))[0]?.consumers.find(({ name }) => name === 'TripSaga');
}

/** Waits until a process of another release is needed. */
function waitsAtHotel(application: Application): Promise<void> {
  return until(async () => (await lagOf(application))?.waitingFor?.includes('step HOTEL') === true);
}

describeOnEachAdapter('A saga', (harness) => {
  let databases: DatabaseRegistry;

  beforeEach(async () => {
    databases = await tripShards(harness);
  });

  test('takes its steps in order, each once and by the principal that started it', async () => {
    const application = tripProcess(databases);
    const trip = await startTrip(application);
    expect(await ended(application, trip)).toEqual([1, 1, 'BOOKED']);
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
    // 95,040,000.00000001
    const application = tripProcess(databases, { flight: { timeoutMs: 1.1 * 86_400_000 } });
    const trip = await startTrip(application);
    expect(await ended(application, trip)).toEqual([1, 1, 'BOOKED']);
  });

  test('continues during a deployment, with the params of the release that takes the step', async () => {
    const trip = await tripAtHotel(databases);
    const after = tripProcess(databases, {
      book: { version: 2, upcasters: [({ count, ...rest }) => ({ ...rest, count: Number(count) * 2 })] },
      hotel: { params: ({ hotels }) => ({ supplier: hotels, count: 2 }) },
    });
    expect(await ended(after, trip)).toEqual([1, 2, 'BOOKED']);
  });

  test('in a step that a release does not know waits for one that does, while other sagas continue', async () => {
    const trip = await tripAtHotel(databases);
    const warnings: string[] = [];
    const warn = (message: string): void => void warnings.push(message);
    const before = tripProcess(databases, { without: ['HOTEL'] }, { warn });
    await waitsAtHotel(before);
    const other = await startTrip(before);
    await ended(before, other);
    await waitsAtHotel(before);
    expect(warnings.filter((each) => each.includes('is in step HOTEL'))).toHaveLength(1);
    expect(await lagOf(before)).toMatchObject({ deadLetters: 0, holder: undefined });
    expect(await ended(tripProcess(databases), trip)).toEqual([1, 1, 'BOOKED']);
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
      const after = await openWith(HOTELS_DOWN, () => {});
      const trip = await startTrip(after);
      await until(async () => (await summaryOf(after, trip)).step === 'HOTEL');
      const before = await openWith({ without: ['HOTEL'] }, (line) => lines.push(line));
      const same = await openWith(HOTELS_DOWN, (line) => lines.push(line));
      const renamed = await openWith({ name: 'OtherSaga' }, (line) => lines.push(line));
      for (const each of [after, before, same, renamed]) await each.close();
      const named =
        '1 of TripSaga on shard (0, 0) wait in step HOTEL, which this release does not have, for a process of a ' +
        'release that has it: see fw-gen sagas list --saga TripSaga --step HOTEL';
      expect(lines.filter((line) => line.includes('this release'))).toEqual([named, named]);
    });

  test('keeps its steps in a release that starts sagas of the same model under another name', async () => {
    const trip = await tripAtHotel(databases);
    // The second saga has no hotels.
    const after = tripProcess(databases, { next: { name: 'TripSaga.2', without: ['HOTEL'] } });
    const other = await startTrip(after);
    for (const each of [trip, other]) await ended(after, each);
    expect(await bookedIn(databases, trip)).toEqual([1, 1, 'BOOKED']);
    expect(await bookedIn(databases, other)).toEqual([1, 0, 'HOTEL']);
    expect((await summaryOf(after, other)).saga).toBe('TripSaga.2');
  });

  test('that is parked in an unknown step is retried by a release that knows it, and refused by another', async () => {
    let broken = true;
    const after = tripProcess(
      databases,
      notRefundable(() => broken),
    );
    const trip = await startTrip(after);
    await until(async () => (await summaryOf(after, trip)).stuck === 'parked');
    const before = tripProcess(databases, { without: ['CANCELLING'] }, SILENT);
    const refused = before.sagas.retry(ALICE, trip.id.getValue());
    await expect(refused).rejects.toThrow('does not know the step CANCELLING of TripSaga');
    broken = false;
    expect(await after.sagas.retry(ALICE, trip.id.getValue())).toBe(true);
    await ended(after, trip);
    expect(await before.sagas.retry(ALICE, trip.id.getValue())).toBe(false);
  });

  test('whose dead letter is retried by a release without its step waits for one that has it', async () => {
    const mistake = (): never => {
      throw new TypeError('a mistake');
    };
    const wrong = tripProcess(databases, { hotel: { params: mistake } });
    const trip = await startTrip(wrong);
    await until(async () => (await summaryOf(wrong, trip)).stuck === 'dead-letter');
    await wrong.events.stop();
    const before = tripProcess(databases, { without: ['HOTEL'] });
    await before.events.deadLetters.retry({ handler: 'TripSaga' });
    await waitsAtHotel(before);
    await before.events.stop();
    expect(await ended(tripProcess(databases), trip)).toEqual([1, 1, 'BOOKED']);
  });

  test('that is abandoned in an unknown step holds back nothing', async () => {
    const trip = await tripAtHotel(databases);
    const before = tripProcess(databases, { without: ['HOTEL'] });
    await waitsAtHotel(before);
    await before.sagas.abandon(ALICE, trip.id.getValue(), 'removed');
    await until(async () => (await lagOf(before))?.behind === 0);
  });

  test('that is abandoned gives up its step, although its state was changed to compensate it', async () => {
    const silent = tripProcess(databases, {}, SILENT);
    const trip = await startTrip(silent);
    await silent.sagas.abandon(ALICE, trip.id.getValue(), 'called off');
    const compensate = "UPDATE trips SET state = 'CANCELLED', version = version + 1";
    await databases.database(HERE).query({ text: compensate, values: [] });
    tripProcess(databases);
    const text = 'SELECT state, failure_code FROM eventlog.saga_steps';
    await until(async () => (await databases.database(THERE).query({ text, values: [] })).rows.length > 0);
    expect((await databases.database(THERE).query({ text, values: [] })).rows).toEqual([
      ['VOID', 'ABANDONED'],
    ]);
    expect(await silent.events.deadLetters.list()).toEqual([]);
  });

  test('that another release has given up is not parked where the step cannot be refused', async () => {
    const trip = await startTrip(tripProcess(databases, {}, SILENT));
    const place = { saga: trip.id.getValue(), stepNumber: 1, step: 'FLIGHT' };
    const text = `INSERT INTO eventlog.saga_steps VALUES ($1, 'VOID', 1, $2, 1, 'FLIGHT', 'FULL', 'No seat', now(), now())`;
    const values = [stepRecordId(place, THERE).getValue(), place.saga];
    await databases.database(THERE).query({ text, values });
    const other = tripProcess(databases, { flight: { refused: undefined } as object });
    await until(async () => (await lagOf(other))?.waitingFor?.includes('refused step FLIGHT') === true);
    expect(await summaryOf(other, trip)).toMatchObject({ state: 'RUNNING', step: 'FLIGHT' });
    await other.events.stop();
    expect(await ended(tripProcess(databases), trip)).toEqual([0, 0, 'CANCELLED']);
  });

  test('compensates earlier steps when a later step is refused', async () => {
    const application = tripProcess(
      databases,
      notRefundable(() => false),
    );
    const trip = await startTrip(application);
    expect(await ended(application, trip)).toEqual([0, 0, 'CANCELLED']);
    expect((await summaryOf(application, trip)).failure).toEqual({ code: 'FW_REFUSED', message: 'No room' });
  });

  test('retries passing errors until the time of the step is over', async () => {
    let calls = 0;
    const application = tripProcess(databases, {
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
    expect(await ended(application, trip)).toEqual([0, 0, 'CANCELLED']);
    expect((await summaryOf(application, trip)).failure?.code).toBe('TIMED_OUT');
  });

  test('attempts a step whose time is over before anybody could attempt it', async () => {
    const starter = tripProcess(databases, {}, SILENT);
    const trip = await startTrip(starter);
    await endTime(starter, HERE, trip.id.getValue());
    await starter.executor.execute(ALICE, OverdueAction, { saga: trip.id.getValue(), stepNumber: 1 });
    const worker = tripProcess(databases);
    expect(await ended(worker, trip)).toEqual([1, 1, 'BOOKED']);
  });

  test('does not wait for a step whose time is over, and its late action has no effect', async () => {
    const { opened, open } = gate();
    let attempts = 0;
    const application = tripProcess(databases, {
      trouble: async () => {
        attempts += 1;
        await opened;
      },
    });
    const trip = await startTrip(application);
    await until(() => attempts > 0);
    await leaveByTime(application, HERE, trip.id.getValue());
    await ended(application, trip);
    open();
    await application.events.stop();
    await application.executor.close();
    expect(await bookedIn(databases, trip)).toEqual([0, 0, 'CANCELLED']);
  });

  test('ignores a late action on its own shard, too, at any later step', async () => {
    const { opened, open } = gate();
    let attempts = 0;
    const application = tripProcess(databases, {
      trouble: async ({ supplier }) => {
        if (supplier !== trip.hotels) return;
        attempts += 1;
        await opened;
      },
    });
    const trip = await startTrip(application);
    await until(() => attempts > 0);
    await leaveByTime(application, HERE, trip.id.getValue());
    await until(async () => (await summaryOf(application, trip)).step === 'CANCELLING');
    open();
    expect(await ended(application, trip)).toEqual([0, 0, 'CANCELLED']);
  });

  test.each([
    ['UNKNOWN', new TypeError('a mistake')],
    ['FW_DATABASE', new DatabaseError('a mistake', { sqlState: '42703' })],
  ])('abandons an apparently defective step after its maximum attempts: %s', async (code, error) => {
    const calls: BookParams[] = [];
    const entries: LogEntry[] = [];
    const terms: TripTerms = {
      flight: { maximumAttempts: 2 },
      trouble: (params) => {
        calls.push(params);
        throw error;
      },
    };
    const application = tripProcess(databases, terms, { log: collectLog(entries) });
    const trip = await startTrip(application);
    await ended(application, trip);
    expect(calls.length).toBeGreaterThanOrEqual(2);
    expect((await summaryOf(application, trip)).failure).toEqual({ code, message: 'a mistake' });
    const failures = entries.filter((entry) => entry['error'] === 'a mistake');
    expect(failures.at(-1)).toMatchObject({
      message: 'step FLIGHT has failed',
      stack: expect.stringContaining('at '),
    });
    // Each failed attempt has one line: the last one by the step, the others by delivery.
    const messages = failures.map(({ message }) => message);
    expect(messages.slice(0, -1)).toEqual([
      expect.stringMatching(/cannot handle event .*; it is attempted again$/),
    ]);
  });

  test('whose compensation fails is parked and listed, and continues after a retry', async () => {
    let broken = true;
    const application = tripProcess(
      databases,
      notRefundable(() => broken),
    );
    const trip = await startTrip(application);
    await until(async () => (await summaryOf(application, trip)).stuck === 'parked');
    expect((await application.sagas.list({ stuck: true })).items).toMatchObject([
      { id: trip.id.getValue(), state: 'PARKED', step: 'CANCELLING', failure: { message: 'Not refundable' } },
    ]);
    expect(await bookedIn(databases, trip)).toEqual([1, 0, 'CANCELLING']);
    broken = false;
    expect(await application.sagas.retry({ name: 'operator' }, trip.id.getValue())).toBe(true);
    expect(await ended(application, trip)).toEqual([0, 0, 'CANCELLED']);
  });

  test('whose step needs a shard that its process does not know yet waits for one that does', async () => {
    const databases = await tripShards(harness);
    let refused = 0;
    const outdated = tripProcess(databases, {
      trouble: () => {
        refused += 1;
        throw new UnknownShardError('(1, 0)');
      },
    });
    const trip = await startTrip(outdated);
    await until(() => refused >= 2);
    await outdated.events.stop();
    const current = tripProcess(databases);
    await ended(current, trip);
    expect(await summaryOf(current, trip)).toMatchObject({ step: 'BOOKED', failure: undefined });
  });

  test('whose step needs a shard that no process knows ends with that reason after its time', async () => {
    const supplier = uuid7.next(ShardIdentifier.of(7, 7).bits);
    const application = tripProcess(await tripShards(harness), {
      flight: {
        params: () => ({ supplier, count: 1 }),
        on: () => ShardedId.named('Account', supplier),
        timeoutMs: 1_500,
      },
    });
    const trip = await startTrip(application);
    await ended(application, trip);
    const { step, changedDate, startedDate, failure } = await summaryOf(application, trip);
    expect([step, failure]).toEqual([
      'CANCELLED',
      { code: 'FW_UNKNOWN_SHARD', message: 'Shard (7, 7) is not configured' },
    ]);
    expect(changedDate.getTime() - startedDate.getTime()).toBeGreaterThanOrEqual(1_500);
  });

  test('whose step can only succeed keeps retrying after its time, and is shown as overdue', async () => {
    let broken = true;
    const application = tripProcess(databases, {
      cancelling: { timeoutMs: 100 },
      trouble: ({ supplier, count }) => {
        if (supplier === trip.hotels) throw new RefusedError('No room');
        if (count < 0 && broken) throw new ShardUnavailableError('(1, 0)', 'it is a test');
      },
    });
    const trip = await startTrip(application);
    await until(async () => (await summaryOf(application, trip)).stuck === 'overdue');
    broken = false;
    expect(await ended(application, trip)).toEqual([0, 0, 'CANCELLED']);
  });

  test('has the full time limit in a retry, although the old time-out event still arrives', async () => {
    let calls = 0;
    const hurried = tripProcess(databases, { flight: { timeoutMs: 1 } }, SILENT);
    const trip = await startTrip(hurried);
    await until(async () => (await summaryOf(hurried, trip)).stuck === 'overdue');
    const overdue = { saga: trip.id.getValue(), stepNumber: 1 };
    await hurried.executor.execute(ALICE, OverdueAction, overdue);
    const patient = tripProcess(databases, {}, SILENT);
    expect(await patient.sagas.retry(ALICE, overdue.saga)).toBe(true);
    await patient.executor.execute(ALICE, OverdueAction, overdue);
    const worker = tripProcess(databases, {
      trouble: () => {
        calls += 1;
        if (calls < 6) throw new ShardUnavailableError('(1, 0)', 'it is a test');
      },
    });
    expect(await ended(worker, trip)).toEqual([1, 1, 'BOOKED']);
  });

  test('whose step returns an invalid state becomes a dead letter, and is shown', async () => {
    const application = tripProcess(databases, {
      flight: { done: (trip) => trip.silentlyTo('HOTEL'), timeoutMs: 100 },
    });
    const trip = await startTrip(application);
    await until(async () => (await summaryOf(application, trip)).stuck === 'dead-letter');
    const [letter] = await application.events.deadLetters.list({ handler: 'TripSaga' });
    expect(letter).toMatchObject({ modelId: trip.id.getValue(), errorCode: 'FW_PLAN_MISUSE' });
    const { deadline } = await summaryOf(application, trip);
    expect(deadline?.getTime()).toBeLessThan(Date.now());
    // A retry would wait behind the dead letter.
    expect(await application.sagas.retry(ALICE, trip.id.getValue())).toBe(false);
    await application.events.stop();
    const repaired = tripProcess(databases);
    await repaired.events.deadLetters.retry({ handler: 'TripSaga' });
    expect(await ended(repaired, trip)).toEqual([1, 1, 'BOOKED']);
  });

  test('continues under a new name', async () => {
    const before = tripProcess(databases, {
      trouble: () => {
        throw new ShardUnavailableError('(1, 0)', 'it is a test');
      },
    });
    const trip = await startTrip(before);
    await before.events.stop();
    const after = tripProcess(databases, { name: 'JourneySaga', aliases: ['TripSaga'] });
    expect(await ended(after, trip)).toEqual([1, 1, 'BOOKED']);
  });
});

describeOn('postgresql', 'A saga whose step needs a shard that is down', (harness) => {
  test('gives the step up after its time as soon as the shard is back, and does not attempt it again', async () => {
    const { migrations } = tripApplication();
    const topology = await harness.makeTopology({ shards: [HERE, THERE], migrations });
    let isDown = false;
    const databases = harness.keep(databasesWithout(topology, THERE, () => isDown));
    let attempts = 0;
    const application = tripProcess(databases, {
      flight: { timeoutMs: 1_500 },
      trouble: ({ count }) => {
        if (count < 0) return;
        attempts += 1;
        isDown = true;
      },
    });
    const trip = await startTrip(application);
    // Its time is over, also if it had more because the first attempt came late.
    const gaveUp = (): boolean =>
      application.executor.statistics().some(({ action }) => action === 'Saga.giveUp');
    await until(gaveUp);
    expect(await summaryOf(application, trip)).toMatchObject({ stuck: 'overdue' });
    const made = attempts;
    isDown = false;
    expect(await ended(application, trip)).toEqual([0, 0, 'CANCELLED']);
    expect((await summaryOf(application, trip)).failure?.code).toBe('TIMED_OUT');
    expect(attempts).toBe(made);
  });
});
