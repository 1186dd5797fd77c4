import { expect, test } from 'vitest';
import { describeOn } from '../../../test/databases/vitest.js';
import { gate } from '../../concurrency/test-support/gate.js';
import { Decimal } from '../../domain/decimal.js';
import { RetryLater } from '../../errors.js';
import { CreditAction, HERE, THERE } from '../../execution/test-support/accounts.js';
import { databasesWithout, mortalDatabases } from '../test-support/faulty-databases.js';
import { type CreditedEnvelope, handlerOf, ledgerMigrations, until } from '../test-support/ledger.js';
import { caughtUp, handlerLedger, testLedger } from '../test-support/test-ledger.js';
import { ConsumerStore } from './consumer-store.js';
import { registerConsumer } from './register-consumers.js';

const QUICK = { leaseMs: 500, surveyMs: 50 };
const EVENTS = 20;

describeOn('postgresql', 'While the shard that a handler writes to is out of reach', (harness) => {
  test('its attempts do not count', async () => {
    const topology = await harness.makeTopology({ shards: [HERE, THERE], migrations: ledgerMigrations });
    let down = true;
    const databases = harness.keep(databasesWithout(topology, THERE, () => down));
    const healthy = harness.open(topology);
    const writer = testLedger(healthy);
    const attempts: number[] = [];
    let mirror = '';
    const copy = async (envelope: CreditedEnvelope): Promise<void> => {
      if (envelope.modelId === mirror) return;
      attempts.push(envelope.attempt);
      await envelope.execute(CreditAction, { account: mirror, amount: new Decimal(1) });
    };
    const reader = testLedger(databases, {
      handlers: [handlerOf('Mirror', copy, { maximumAttempts: 2, retryDelayMs: 1 })],
      execution: { timeoutMs: 300 },
    });
    mirror = await writer.open(THERE);
    await writer.credit(await writer.open());
    reader.events.start();
    await until(() => attempts.length >= 6);
    expect(await writer.events.deadLetters.list()).toEqual([]);
    const waitingFor = async () => (await writer.events.lag(HERE))[0]?.consumers[0]?.waitingFor ?? '';
    await until(async () => (await waitingFor()).includes(`${THERE}`));
    expect(await waitingFor()).toMatch(/^attempt 1 at event [0-9a-f-]{36} after: /);
    down = false;
    await until(async () => (await writer.balance(mirror)) === '1');
    await until(async () => (await waitingFor()) === '');
    expect(new Set(attempts)).toEqual(new Set([1]));
  });

  test('scheduled actions wait and do not fail', async () => {
    const topology = await harness.makeTopology({ shards: [HERE, THERE], migrations: ledgerMigrations });
    let down = true;
    let refusals = 0;
    const unreliable = databasesWithout(topology, THERE, () => {
      refusals += down ? 1 : 0;
      return down;
    });
    const databases = harness.keep(unreliable);
    const healthy = harness.open(topology);
    const writer = testLedger(healthy);
    const runner = testLedger(databases, { execution: { timeoutMs: 100 } });
    const far = await writer.open(THERE);
    await writer.creditLater(far, 5, new Date());
    // An action is stored on the shard of its plan; this one is moved so that it runs from the other shard.
    const move = `INSERT INTO eventlog.schedules (id, due_date, next_date, action_name, params, principal, action_id, created_date)
      SELECT $1, due_date, next_date, action_name, params, principal, action_id, created_date
      FROM jsonb_populate_record(NULL::eventlog.schedules, $2)`;
    const [row] = await writer.rows('SELECT to_jsonb(s)::text FROM eventlog.schedules AS s', THERE);
    await writer.rows('DELETE FROM eventlog.schedules', THERE);
    const here = await writer.open(HERE);
    await healthy.database(HERE).query({ text: move, values: [here, row?.[0]] });
    runner.events.start();
    const before = refusals;
    await until(() => refusals >= before + 8);
    await until(async () => {
      const [found] = await writer.events.schedules.list({ shard: HERE });
      return found?.errorCode !== undefined;
    });
    const [found] = await writer.events.schedules.list({ shard: HERE });
    expect(found).toMatchObject({ attempts: 0 });
    expect(found?.state).not.toBe('failed');
    down = false;
    await until(async () => (await writer.balance(far)) === '5');
  });
});

describeOn('postgresql', 'Failures that pass', (harness) => {
  test('do not count as crashes for the processes that take over', async () => {
    const topology = await harness.makeTopology({ shards: [HERE], migrations: ledgerMigrations });
    const healthy = harness.open(topology);
    const writer = testLedger(healthy);
    let broken = true;
    const failures = new Map<string, number>();
    const handled = new Set<string>();
    const handler = {
      ...handlerOf(
        'Passing',
        ({ id }) => {
          if (broken) {
            failures.set(id, (failures.get(id) ?? 0) + 1);
            throw new Error('it passes');
          }
          handled.add(id);
        },
        { maximumAttempts: 3, retryDelayMs: 20 },
      ),
      passes: (error: unknown) => error instanceof Error && error.message === 'it passes',
    };
    for (let each = 0; each < EVENTS; each += 1) await writer.credit(await writer.open());
    // The first process fails more often than the maximum; later ones start where a process has vanished.
    for (const wanted of [4, 5, 6]) {
      const { databases, kill } = mortalDatabases(topology);
      const mortal = testLedger(databases, { handlers: [handler], limits: QUICK });
      mortal.events.start();
      await until(() => failures.size === EVENTS && [...failures.values()].every((n) => n >= wanted));
      kill();
      await mortal.events.stop(0);
      await databases.close(0);
    }
    broken = false;
    const survivor = testLedger(healthy, { handlers: [handler], limits: QUICK });
    survivor.events.start();
    await until(() => handled.size === EVENTS);
    await caughtUp(writer);
    expect(await writer.events.deadLetters.list()).toEqual([]);
  }, 90_000);
});

describeOn('postgresql', 'An attempt that the end of its process cuts off', (harness) => {
  test.each([false, true])('does not count (transactional %s)', async (transactional) => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    let isEnding = true;
    const attempts: number[] = [];
    const handler = handlerOf(
      'Slow',
      async ({ attempt }) => {
        attempts.push(attempt);
        if (!isEnding) return;
        await new Promise((_, reject) => setTimeout(() => reject(new Error('cut off')), 100));
      },
      { transactional, maximumAttempts: 1 },
    );
    const ledger = testLedger(databases, { handlers: [handler] });
    await ledger.credit(await ledger.open());
    ledger.events.start();
    await until(() => attempts.length === 1);
    await ledger.events.stop(0);
    isEnding = false;
    const next = testLedger(databases, { handlers: [handler] });
    next.events.start();
    await until(() => attempts.length === 2);
    await caughtUp(ledger);
    expect(await ledger.events.deadLetters.list()).toEqual([]);
    expect(attempts).toEqual([1, 1]);
  });
});

describeOn('postgresql', 'An attempt under way when a lease is lost', (harness) => {
  const NOTE = { attempts: { event: 2 }, open: ['event'] };

  test.each([
    ['the same process', 'one', false, { attempts: { event: 1 }, died: [] }],
    ['another one, while the process lives on', 'other', true, { attempts: { event: 1 }, died: [] }],
    ['another one after it has vanished', 'other', false, { attempts: { event: 2 }, died: ['event'] }],
  ])(
    'counts as a death only if the process is gone: %s takes over',
    async (_, successor, alive, expected) => {
      const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
      const store = new ConsumerStore(databases.database(HERE));
      await registerConsumer(databases.database(HERE), { name: 'Plain', kind: 'live' });
      const consumer = await store.acquire('Plain', 'one', 60_000);
      if (consumer === undefined) throw new Error('It is free');
      await store.storeAttempts(consumer.lease, NOTE, 0);
      if (alive) await store.survey('one', ['Plain'], 60_000, []);
      await until(async () => {
        const next = await store.acquire('Plain', successor, 60_000);
        if (next !== undefined) expect(next).toMatchObject(expected);
        return next !== undefined;
      });
    },
  );
});

describeOn('postgresql', 'A handler that keeps its process from renewing the lease', (harness) => {
  test('is not called again for handled events', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const versions: number[] = [];
    const slow = handlerOf('Slow', ({ modelVersion }) => {
      versions.push(modelVersion);
      const until = performance.now() + QUICK.leaseMs * 1.5;
      while (performance.now() < until);
    });
    const ledger = testLedger(databases, { handlers: [slow], limits: QUICK });
    const account = await ledger.open();
    await ledger.credit(account);
    await ledger.credit(account);
    ledger.events.start();
    await caughtUp(ledger);
    await ledger.events.stop();
    expect(versions).toEqual([2, 3]);
  });
});

describeOn('postgresql', 'Failures of a transactional handler', (harness) => {
  test('begin with short pauses at each event', async () => {
    const failed = new Map<number, number>();
    let waitedMs = 0;
    const ledger = await handlerLedger(
      harness,
      'Waiting',
      async ({ modelVersion }) => {
        const failures = failed.get(modelVersion) ?? 0;
        if (failures >= (modelVersion === 2 ? 12 : 2)) {
          if (modelVersion === 3) waitedMs += performance.now();
          return;
        }
        failed.set(modelVersion, failures + 1);
        if (modelVersion === 3 && failures === 1) waitedMs = -performance.now();
        throw new RetryLater();
      },
      { retryDelayMs: 1, transactional: true },
    );
    ledger.events.start();
    const account = await ledger.open();
    await ledger.credit(account);
    await ledger.credit(account);
    await until(() => waitedMs > 0);
    await ledger.events.stop();
    // With the pauses of the event before it would take seconds.
    expect(waitedMs).toBeLessThan(3_000);
  });

  test('do not keep it from a process that has lost its lease during the pause', async () => {
    let attempts = 0;
    const ledger = await handlerLedger(
      harness,
      'Waiting',
      async () => {
        attempts += 1;
        throw new RetryLater({ afterMs: 600_000 });
      },
      { transactional: true, limits: QUICK },
    );
    ledger.events.start();
    await ledger.credit(await ledger.open());
    await until(() => attempts === 1);
    // As a process of a newer release does that selects more.
    await ledger.rows("UPDATE eventlog.consumers SET fence = fence + 1 WHERE name = 'Waiting'");
    await until(() => attempts === 2, 10_000);
  });

  test('count for an event that fails only when it is handled again without a later one that failed', async () => {
    const calls: string[] = [];
    const ledger = await handlerLedger(
      harness,
      'Twice',
      async ({ modelVersion, attempt }) => {
        calls.push(`${modelVersion} attempt ${attempt}`);
        if (modelVersion === 3 && attempt === 1) throw new Error('no');
        if (modelVersion === 2 && calls.filter((call) => call.startsWith('2')).length === 2)
          throw new Error('busy');
      },
      { retryDelayMs: 1, transactional: true },
    );
    const account = await ledger.open();
    for (const _ of [2, 3]) await ledger.credit(account);
    ledger.events.start();
    await caughtUp(ledger);
    expect(calls.slice(0, 4)).toEqual(['2 attempt 1', '3 attempt 1', '2 attempt 1', '2 attempt 2']);
    expect(ledger.warnings).toEqual([]);
  });

  test('park the event at which it swallows the failure of a statement', async () => {
    const handled: string[] = [];
    let bad = '';
    const ledger = await handlerLedger(
      harness,
      'Swallowing',
      async ({ transaction, modelId }) => {
        if (modelId === bad) await transaction.query({ text: 'SELECT 1 / 0', values: [] }).catch(() => {});
        else await transaction.query({ text: 'SELECT 1', values: [] });
        handled.push(modelId);
      },
      { retryDelayMs: 1, maximumAttempts: 2, transactional: true },
    );
    const accounts = [await ledger.open(), await ledger.open(), await ledger.open()];
    bad = accounts[1] ?? '';
    for (const account of accounts) await ledger.credit(account);
    ledger.events.start();
    await caughtUp(ledger);
    const letters = await ledger.events.deadLetters.list();
    expect(letters).toMatchObject([{ modelId: bad, attempts: 2, errorCode: 'FW_DATABASE' }]);
    expect(letters[0]?.errorMessage).toContain('swallowed');
    expect(handled).toContain(accounts[2]);
  });

  test('let it handle events in groups again', async () => {
    const transactions = new Map<number, string>();
    let failed = false;
    const { opened: released, open: release } = gate();
    const ledger = await handlerLedger(
      harness,
      'Swallowing',
      async ({ transaction, modelVersion }) => {
        if (modelVersion === 4 && !failed) {
          failed = true;
          await transaction.query({ text: 'SELECT 1 / 0', values: [] }).catch(() => {});
          return;
        }
        const { rows } = await transaction.query({ text: 'SELECT pg_current_xact_id()::text', values: [] });
        transactions.set(modelVersion, String(rows[0]?.[0]));
        if (modelVersion === 5) await released;
      },
      { retryDelayMs: 1, transactional: true },
    );
    const account = await ledger.open();
    const credit = async (count: number): Promise<void> => {
      for (let each = 0; each < count; each += 1) await ledger.credit(account);
    };
    await credit(3);
    ledger.events.start();
    await until(() => transactions.has(4));
    await credit(1);
    await until(() => transactions.has(5));
    await credit(10);
    release();
    await until(() => transactions.has(15));
    await ledger.events.stop();
    const later = [...transactions].filter(([version]) => version > 5).map(([, id]) => id);
    expect(new Set(later).size).toBeLessThan(10);
  });
});
