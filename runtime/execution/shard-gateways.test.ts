import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type PerformScope, runInPerformScope } from '../action/perform-scope.js';
import { systemEnvironment } from '../concurrency/execution-environment.js';
import { type ModelDescriptor, noteRevision } from '../domain/entity.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { accountModel } from '../domain/test-support/account.js';
import { CommitOutcomeUnknownError, DeadlineExceededError, UnknownShardError } from '../errors.js';
import { EventCatalog } from '../persistence/codec/event-catalog.js';
import type { ShardStore } from '../persistence/shard-store.js';
import { ManualStore } from '../persistence/test-support/manual-store.js';
import { idOf, planOf } from '../persistence/test-support/plans.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import type { CallOptions, Rows } from '../sharding/shard-database.js';
import { ShardGateways } from './shard-gateways.js';
import { sendPart } from './shard-transaction.js';
import { HERE } from './test-support/accounts.js';
import { unusedDatabases } from './test-support/unused-databases.js';

const model = accountModel as unknown as ModelDescriptor;
const NO_ROWS: Rows = { columns: [], rows: [], command: 'SELECT', rowCount: 0 };

/** Databases whose answers the test controls. */
class Bench {
  lockTimeoutMs = 400;
  readonly timeouts: (number | undefined)[] = [];
  answer: (rows: Rows) => void = () => {};
  /** Removes the shard, as a reload does. */
  remove: () => void = () => {};
  readonly gateways: ShardGateways;

  constructor(store?: ShardStore) {
    let isRemoved = false;
    const database = {
      shard: HERE,
      sessionState: true,
      query: (_statement: unknown, options?: CallOptions) => {
        this.timeouts.push(options?.timeoutMs);
        return new Promise<Rows>((resolve) => {
          this.answer = resolve;
        });
      },
    };
    const databases = unusedDatabases({
      database: () => {
        if (isRemoved) throw new UnknownShardError(HERE.toString());
        return database;
      },
      onRemoved: (listener: (shard: ShardIdentifier) => void) => {
        this.remove = () => {
          isRemoved = true;
          listener(HERE);
        };
      },
      shards: () => [HERE],
      memberConfig: () => ({ primary: { lockTimeoutMs: this.lockTimeoutMs } }),
    });
    const storeOf = store && (() => store);
    this.gateways = new ShardGateways(databases, 'test', new EventCatalog([]), { storeOf });
  }

  read(row: string): Promise<unknown> {
    return this.gateways.read(model, HERE, idOf(row).getValue());
  }
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test('a read outside of an execution ends at its deadline, even if an execution waits longer for the same answer', async () => {
  const bench = new Bench();
  const execution = { actionName: 'Slow', remainingMs: () => 60_000 } as PerformScope;
  const patient = runInPerformScope(execution, () => bench.read('a'));
  const ends: unknown[] = [];
  void bench.read('b').catch((error: unknown) => ends.push(error));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(bench.timeouts).toEqual([expect.closeTo(60_000, -2)]);
  expect(ends).toEqual([]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(ends).toEqual([expect.any(DeadlineExceededError)]);
  bench.answer(NO_ROWS);
  expect(await patient).toBeUndefined();
});

test('a plan waits for a lock only if it can learn the outcome by the time-out of the present topology', async () => {
  vi.useRealTimers();
  const manual = new ManualStore();
  const bench = new Bench(manual.store);
  const { writer } = bench.gateways.gateway(HERE);
  const sendAgain = async (): Promise<string> => {
    const { outcome } = writer.submit(planOf('a1>2'), { timeoutMs: 1_000 });
    await new Promise(setImmediate);
    await manual.last.answer('left-out');
    const { text } = manual.last;
    await manual.last.answer('left-out');
    expect(await outcome).toEqual({ kind: 'stale' });
    return text;
  };
  expect(await sendAgain()).toBe('a1>2 (wait)');
  bench.lockTimeoutMs = 950;
  expect(await sendAgain()).toBe('a1>2 (refuse)');
});

test('a plan in flight is answered when its shard is removed meanwhile', async () => {
  vi.useRealTimers();
  const manual = new ManualStore();
  const bench = new Bench(manual.store);
  const plan = planOf('a1>2');
  const { pending, outcome } = bench.gateways.gateway(HERE).writer.submit(plan, { timeoutMs: 1_000 });
  bench.gateways.staged.publish(plan.items, pending, HERE);
  await new Promise(setImmediate);
  for (const { model: staged } of plan.items) noteRevision(staged, '7');
  bench.remove();
  await manual.last.answer();
  expect(await outcome).toMatchObject({ kind: 'applied' });
});

test('a write that was lost in flight is in doubt, even if its shard is removed meanwhile', async () => {
  vi.useRealTimers();
  const manual = new ManualStore();
  const fence = () => Promise.reject(new DriverFailure('closed', { phase: 'not-sent', reason: 'closed' }));
  const bench = new Bench(Object.assign(manual, { fence }).store);
  const environment = systemEnvironment();
  const part = { shard: HERE, write: planOf('a1>2') };
  const limits = { deadline: environment.nowMs() + 50, signal: undefined, dependsOn: [] };
  const unused = { guard: undefined, span: undefined };
  const { pending, result } = sendPart(part, { gateways: bench.gateways, environment, ...limits, ...unused });
  await new Promise(setImmediate);
  bench.remove();
  await manual.last.fail(new DriverFailure('lost', { phase: 'in-flight' }));
  await expect(result).rejects.toThrow(CommitOutcomeUnknownError);
  expect(pending.state).toBe('failed');
});
