import { expect, test } from 'vitest';
import { describeOn, describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { SILENT } from '../../domain/logger.js';
import { RetryLater } from '../../errors.js';
import { HERE } from '../../execution/test-support/accounts.js';
import { mortalDatabases } from '../test-support/faulty-databases.js';
import { type CreditedEnvelope, handlerOf, ledgerMigrations, until } from '../test-support/ledger.js';
import { caughtUp, credited, testLedger, waitingFor } from '../test-support/test-ledger.js';

const QUICK = { leaseMs: 1_000, surveyMs: 50 };

/** Handled events, in order, and the numbers of all attempts. A receiver that is down accepts nothing of one account. */
function receiver(fail: () => Error) {
  const state = {
    isDown: true,
    account: '',
    handled: [] as string[],
    attempts: new Set<number>(),
    refused: 0,
  };
  const handle = ({ modelId, modelVersion: version, attempt }: CreditedEnvelope): void => {
    if (modelId === state.account) state.attempts.add(attempt);
    if (modelId === state.account && state.isDown) {
      state.refused += 1;
      throw fail();
    }
    state.handled.push(`${modelId === state.account ? 'a' : 'b'}${version}`);
  };
  return { state, handle };
}

describeOnEachAdapter('A handler whose receiver is down', (harness) => {
  test.each(['RetryLater', 'isTransient'])(
    'waits by %s without an attempt that counts, in the order of the model, while others continue',
    async (by) => {
      const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
      let message = 'no mail';
      const { state, handle } = receiver(() =>
        by === 'RetryLater' ? new RetryLater({ afterMs: 5, message }) : new RangeError(message),
      );
      const isTransient = (error: unknown): boolean => error instanceof RangeError;
      const descriptor = handlerOf('Mailer', handle, { maximumAttempts: 2, retryDelayMs: 1 });
      const ledger = testLedger(databases, {
        handlers: [
          { ...descriptor, create: () => (by === 'RetryLater' ? { handle } : { handle, isTransient }) },
        ],
        limits: QUICK,
      });
      state.account = await ledger.open();
      const other = await ledger.open();
      for (const account of [state.account, state.account, other]) await ledger.credit(account);
      ledger.events.start();
      await until(() => state.refused >= 5 && state.handled.length === 1);
      await until(async () => (await waitingFor(ledger)) === 'its receiver is down: no mail');
      message = 'wrong key';
      await until(async () => (await waitingFor(ledger)) === 'its receiver is down: wrong key');
      expect(ledger.warnings).toEqual(['The receiver of Mailer is down: no mail']);
      state.isDown = false;
      await until(() => state.handled.length === 3);
      expect(state.handled).toEqual(['b2', 'a2', 'a3']);
      expect([...state.attempts]).toEqual([1]);
      await until(async () => (await waitingFor(ledger)) === undefined);
      expect(ledger.warnings.slice(1)).toEqual([
        expect.stringMatching(/^The receiver of Mailer answers again after \d+ s$/),
      ]);
      expect(await ledger.events.deadLetters.list()).toEqual([]);
    },
  );
});

describeOnEachAdapter('A handler that fails', (harness) => {
  test.each([false, true])('is shown in log and lag (transactional %s)', async (transactional) => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const { state, handle } = receiver(() => new RangeError('a defect'));
    const entries: object[] = [];
    const ledger = testLedger(databases, {
      handlers: [handlerOf('Mailer', handle, { retryDelayMs: 20, transactional })],
      limits: QUICK,
      log: { ...SILENT, warn: (facts) => void entries.push(facts) },
    });
    state.account = await credited(ledger);
    ledger.events.start();
    await until(async () =>
      /^attempt \d+ at event \S+ after: a defect$/.test((await waitingFor(ledger)) ?? ''),
    );
    const facts = { handler: 'Mailer', shard: HERE.toString(), error: 'a defect', attempt: 1 };
    expect(entries[0]).toMatchObject({ ...facts, eventId: expect.any(String) });
    state.isDown = false;
    await until(async () => (await waitingFor(ledger)) === undefined);
    expect(state.handled).toEqual(['a2']);
  });

  test('no longer waits for an event that is discarded before its next attempt', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    let error = new Error('a defect');
    const { state, handle } = receiver(() => error);
    const handlers = [handlerOf('Mailer', handle, { maximumAttempts: 1 })];
    const ledger = testLedger(databases, { handlers, limits: QUICK });
    const { deadLetters } = ledger.events;
    state.account = await credited(ledger);
    ledger.events.start();
    await until(async () => (await deadLetters.list()).length === 1);
    error = new RetryLater({ afterMs: 20 });
    await deadLetters.retry({});
    await until(async () => (await waitingFor(ledger))?.startsWith('its receiver is down') === true);
    await deadLetters.discard({ handler: 'Mailer' });
    await until(async () => (await waitingFor(ledger)) === undefined);
  });
});

describeOn('postgresql', 'A handler whose receiver is down', (harness) => {
  test.each([false, true])('goes on waiting after a crash (transactional %s)', async (transactional) => {
    const topology = await harness.makeTopology({ shards: [HERE], migrations: ledgerMigrations });
    const databases = harness.open(topology);
    const { state, handle } = receiver(() => new RetryLater({ afterMs: 20 }));
    const handlers = [handlerOf('Mailer', handle, { maximumAttempts: 2, transactional })];
    const { databases: mortal, kill } = mortalDatabases(topology);
    const first = testLedger(mortal, { handlers, limits: QUICK });
    const second = testLedger(databases, { handlers, limits: QUICK });
    state.account = await second.open();
    for (let count = 0; count < 3; count += 1) await second.credit(state.account);
    first.events.start();
    await until(() => state.refused >= 4);
    kill();
    await first.events.stop(0);
    await mortal.close(0);
    const before = state.refused;
    second.events.start();
    await until(() => state.refused >= before + 4);
    await until(async () => (await waitingFor(second))?.startsWith('its receiver is down') === true);
    state.isDown = false;
    await until(() => state.handled.length >= 3);
    await caughtUp(second);
    await until(async () => (await waitingFor(second)) === undefined);
    expect(state.handled).toEqual(['a2', 'a3', 'a4']);
    // A process that takes over counts each attempt before it begins, in case that the event ends the process.
    expect(await second.events.deadLetters.list()).toEqual([]);
  });

  test.each([false, true])(
    'is tried again at once on an operator’s request, although its pause is long (transactional %s)',
    async (transactional) => {
      const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
      const { state, handle } = receiver(() => new RetryLater({ afterMs: 3_600_000, message: 'no mail' }));
      const handlers = [handlerOf('Mailer', handle, { transactional })];
      const ledger = testLedger(databases, { handlers, limits: QUICK });
      state.account = await credited(ledger);
      ledger.events.start();
      const pause = /^its receiver is down: no mail; next attempt at 2\S+Z$/;
      await until(async () => pause.test((await waitingFor(ledger)) ?? 'for nothing'));
      state.isDown = false;
      expect(await ledger.events.resume('Mailer')).toBe(1);
      await until(() => state.handled.length === 1);
      await until(async () => (await waitingFor(ledger)) === undefined);
      expect(await ledger.events.resume('Mailer')).toBe(0);
    },
  );

  test('gives an event up early when 4,000 events have been read behind it', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const { state, handle } = receiver(() => new Error('a defect'));
    const handlers = [handlerOf('Mailer', handle, { retryDelayMs: 60_000 })];
    const ledger = testLedger(databases, { handlers, limits: QUICK });
    state.account = await ledger.open();
    const others = await Promise.all(Array.from({ length: 40 }, () => ledger.open()));
    await ledger.credit(state.account);
    await Promise.all(
      others.map(async (other) => {
        for (let count = 0; count < 130; count += 1) await ledger.credit(other);
      }),
    );
    ledger.events.start();
    await until(() => state.handled.length === 40 * 130);
    const letters = await ledger.events.deadLetters.list();
    expect(letters).toMatchObject([{ modelId: state.account, attempts: 1 }]);
    await caughtUp(ledger);
  });
});
