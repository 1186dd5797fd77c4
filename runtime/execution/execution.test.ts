import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Action } from '../action/action.js';
import type { ActionPlan, StagedItem } from '../action/action-plan.js';
import { ActionRegistry } from '../action/action-registry.js';
import type {
  ExecutionConfiguration,
  ExecutionConfigurationBuilder,
} from '../action/execution-configuration.js';
import { systemClock } from '../domain/clock.js';
import { rowKey } from '../domain/entity.js';
import type { Id } from '../domain/id.js';
import type { Account } from '../domain/test-support/account.js';
import { AbortedError, DeadlineExceededError, RefusedError, ShardUnavailableError } from '../errors.js';
import { EventCatalog } from '../persistence/codec/event-catalog.js';
import type { ShardStore } from '../persistence/shard-store.js';
import { idOf, planOf } from '../persistence/test-support/plans.js';
import { PendingPlan } from '../persistence/write/pending-plan.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import { ActionExecutor } from './action-executor.js';
import { ShardGateways } from './shard-gateways.js';
import { AccountRepository, ALICE, configure, DoAction, HERE } from './test-support/accounts.js';
import { guestModel, newGuest } from './test-support/guests.js';
import { unusedDatabases } from './test-support/unused-databases.js';

type LookParams = Readonly<Record<string, Id<Account>>>;

/** Reads and writes nothing. */
class LookAction extends Action<LookParams, string> {
  protected perform(): string {
    return 'looked';
  }
}

class RefuseAction extends Action<LookParams, string> {
  protected perform(): string {
    throw new RefusedError('No');
  }
}

class WaitAction extends Action<LookParams, string> {
  protected perform(): Promise<string> {
    return new Promise(() => {});
  }
}

/** Returns a promise of another realm, which never settles. */
class ForeignAction extends Action<LookParams, string> {
  protected perform(): Promise<string> {
    return runInNewContext('new Promise(() => {})') as Promise<string>;
  }
}

/** Throws nothing. */
class ThrowAction extends Action<LookParams, string> {
  protected perform(): string {
    throw undefined;
  }
}

/** An executor that sends no query. */
function openExecutor(): { readonly executor: ActionExecutor; readonly gateways: ShardGateways } {
  const databases = unusedDatabases();
  const gateways = new ShardGateways(databases, 'test', new EventCatalog([]));
  const registry = new ActionRegistry([
    { name: 'Look', actionClass: LookAction, params: [], create: () => new LookAction(systemClock) },
    { name: 'Refuse', actionClass: RefuseAction, params: [], create: () => new RefuseAction(systemClock) },
    { name: 'Wait', actionClass: WaitAction, params: [], create: () => new WaitAction(systemClock) },
    { name: 'Foreign', actionClass: ForeignAction, params: [], create: () => new ForeignAction(systemClock) },
    { name: 'Throw', actionClass: ThrowAction, params: [], create: () => new ThrowAction(systemClock) },
  ]);
  return { executor: new ActionExecutor({ registry, gateways, models: [] }), gateways };
}

describe('an execution that takes turns at many rows', () => {
  const names = [...'abcdefghijkl'];
  const params: LookParams = Object.fromEntries(names.map((name) => [name, idOf(name)]));

  // All tests share one clock: the process's deadline watcher keeps its timer while any deadline is pending.
  beforeAll(() => {
    vi.useFakeTimers();
  });

  afterAll(async () => {
    await vi.advanceTimersByTimeAsync(1_000);
    vi.useRealTimers();
  });

  /** Starts executions that wait for turns which never end. */
  async function startWaiting(configuration: ExecutionConfiguration): Promise<readonly unknown[]> {
    const { executor, gateways } = openExecutor();
    await gateways.turns.take(names.map((name) => rowKey('Account', idOf(name).getValue())));
    const ends: unknown[] = [];
    executor.execute(ALICE, LookAction, params, configuration).then(
      (result) => ends.push(result),
      (error: unknown) => ends.push(error),
    );
    return ends;
  }

  test('waits for them, but continues without them before its deadline', async () => {
    const ends = await startWaiting(configure().timeoutMs(60_000).build());
    await vi.advanceTimersByTimeAsync(1_000);
    expect(ends).toEqual([]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(ends).toEqual(['looked']);
  });

  test('ends at its deadline', async () => {
    const ends = await startWaiting(configure().timeoutMs(300).build());
    await vi.advanceTimersByTimeAsync(350);
    expect(ends).toEqual([expect.any(DeadlineExceededError)]);
  });

  test('ends when it is aborted', async () => {
    const abort = new AbortController();
    const ends = await startWaiting(configure().timeoutMs(60_000).signal(abort.signal).build());
    await vi.advanceTimersByTimeAsync(100);
    abort.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect(ends).toEqual([expect.any(AbortedError)]);
  });
});

describe('a listener that throws is called once and does not affect the execution', () => {
  test('about a success and about a failure', async () => {
    const calls: unknown[] = [];
    const configuration = configure()
      .onReport(({ errorCode }) => {
        calls.push(errorCode);
        throw new Error('listener');
      })
      .build();
    const { executor } = openExecutor();
    expect(await executor.execute(ALICE, LookAction, {}, configuration)).toBe('looked');
    await expect(executor.execute(ALICE, RefuseAction, {}, configuration)).rejects.toThrow(RefusedError);
    expect(calls).toEqual([undefined, new RefusedError('No').code]);
  });

  test('a listener whose promise rejects does not end the process', async () => {
    const { executor } = openExecutor();
    const unhandled = vi.fn();
    process.once('unhandledRejection', unhandled);
    const late = async (): Promise<void> => {
      await Promise.reject(new Error('late'));
    };
    const asynchronous = configure()
      .onReport(() => late())
      .build();
    expect(await executor.execute(ALICE, LookAction, {}, asynchronous)).toBe('looked');
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });
});

/** An executor whose first execution under a key runs until the key is said to be free. */
function openBlocked(): { readonly executor: ActionExecutor; readonly answer: () => void } {
  let answer = (): void => {};
  const executor = openExecutorOn(() => new Promise((resolve) => (answer = () => resolve(undefined))));
  return { executor, answer: () => answer() };
}

/** An executor on a shard whose keys are read like this. */
function openExecutorOn(readKey: () => Promise<undefined>): ActionExecutor {
  const memberConfig = () => ({ primary: { lockTimeoutMs: 400 } });
  const databases = unusedDatabases({ database: () => ({}), memberConfig });
  const storeOf = () => ({ readKey }) as unknown as ShardStore;
  const gateways = new ShardGateways(databases, 'test', new EventCatalog([]), { storeOf });
  const create = () => new RefuseAction(systemClock);
  const type = { kind: 'id', model: 'Account', sharded: true } as const;
  const params = [{ name: 'account', type, optional: true as const }];
  const registry = new ActionRegistry([{ name: 'Refuse', actionClass: RefuseAction, params, create }]);
  return new ActionExecutor({ registry, gateways, models: [] });
}

test('the report of an execution under a key has the error that is thrown if a refusal cannot be confirmed', async () => {
  const gone = new DriverFailure('gone', { phase: 'not-sent', reason: 'unreachable' });
  let reads = 0;
  const executor = openExecutorOn(() => {
    reads += 1;
    return reads === 1 ? Promise.resolve(undefined) : Promise.reject(gone);
  });
  const codes: unknown[] = [];
  const configuration = configure()
    .idempotencyKey('once')
    .onReport(({ errorCode }) => codes.push(errorCode))
    .build();
  const execution = executor.execute(ALICE, RefuseAction, {}, configuration);
  await expect(execution).rejects.toThrow(ShardUnavailableError);
  expect(codes).toEqual(['FW_SHARD_UNAVAILABLE']);
  const [{ outcomes } = { outcomes: undefined }] = executor.statistics();
  expect(outcomes).toEqual(new Map(Object.entries({ ok: 0, replayed: 0, FW_SHARD_UNAVAILABLE: 1 })));
});

test('an execution that never runs, because another one under its key does, is counted and reported', async () => {
  const { executor, answer } = openBlocked();
  const codes: unknown[] = [];
  const under = (): ExecutionConfigurationBuilder => configure().idempotencyKey('once');
  const first = executor.execute(ALICE, RefuseAction, {}, under().build());
  const configuration = under()
    .timeoutMs(50)
    .onReport(({ errorCode }) => codes.push(errorCode))
    .build();
  const second = executor.execute(ALICE, RefuseAction, {}, configuration);
  await expect(second).rejects.toMatchObject({ code: 'FW_KEY_BUSY' });
  expect(codes).toEqual(['FW_KEY_BUSY']);
  const [{ outcomes } = { outcomes: undefined }] = executor.statistics();
  expect(outcomes).toEqual(new Map(Object.entries({ ok: 0, replayed: 0, FW_KEY_BUSY: 1 })));
  void first.catch(() => {});
  answer();
});

/** An executor whose actions read staged accounts. */
function openAccounts() {
  const databases = unusedDatabases({ database: () => ({}) });
  const gateways = new ShardGateways(databases, 'test', new EventCatalog([]));
  const accounts = new AccountRepository(gateways);
  const create = (): DoAction => new DoAction(systemClock, accounts);
  const registry = new ActionRegistry([{ name: 'Do', actionClass: DoAction, params: [], create }]);
  return { executor: new ActionExecutor({ registry, gateways, models: [] }), accounts, gateways };
}

test('an execution is not told that a key is taken before the plans that it has read are applied', async () => {
  const { executor, accounts, gateways } = openAccounts();
  const [read, holder] = [new PendingPlan(), new PendingPlan()];
  gateways.staged.publish(planOf('a1>2').items, read, HERE);
  const descriptor = guestModel as unknown as StagedItem['descriptor'];
  const model = newGuest('ann@hotel');
  gateways.staged.publish([{ kind: 'add', descriptor, model, events: [] }], holder, HERE);
  let runs = 0;
  const work = async (plan: ActionPlan): Promise<unknown> => {
    runs += 1;
    if (runs > 1) throw new RefusedError('The account has changed');
    await accounts.getById(idOf('a'));
    return plan.add(newGuest('ann@hotel'));
  };
  const execution = executor.execute(ALICE, DoAction, { work }, configure().timeoutMs(5_000).build());
  const outcome = execution.catch((error: unknown) => error);
  await new Promise(setImmediate);
  holder.settle(true);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(runs).toBe(1);
  read.settle(false);
  expect(await outcome).toBeInstanceOf(RefusedError);
});

describe('an aborted execution ends at once', () => {
  const outcomeOf = (execution: Promise<unknown>): Promise<unknown> =>
    Promise.race([
      execution.catch((error: unknown) => error),
      new Promise((resolve) => setTimeout(resolve, 200, 'runs on')),
    ]);

  test('while it waits for another one under its key', async () => {
    const { executor, answer } = openBlocked();
    const abort = new AbortController();
    const under = (): ExecutionConfigurationBuilder => configure().idempotencyKey('once').timeoutMs(2_000);
    const first = executor.execute(ALICE, RefuseAction, {}, under().build());
    const repeat = executor.execute(ALICE, RefuseAction, {}, under().signal(abort.signal).build());
    abort.abort();
    expect(await outcomeOf(repeat)).toBeInstanceOf(AbortedError);
    void first.catch(() => {});
    answer();
  });

  test('while it waits for a plan that it depends on', async () => {
    const { executor, accounts, gateways } = openAccounts();
    gateways.staged.publish(planOf('a1>2').items, new PendingPlan(), HERE);
    const abort = new AbortController();
    const configuration = configure().timeoutMs(2_000).signal(abort.signal).build();
    const work = (): Promise<unknown> => accounts.getById(idOf('a'));
    const execution = executor.execute(ALICE, DoAction, { work }, configuration);
    await new Promise(setImmediate);
    abort.abort();
    expect(await outcomeOf(execution)).toBeInstanceOf(AbortedError);
  });

  test('while it performs', async () => {
    const { executor } = openExecutor();
    const abort = new AbortController();
    const configuration = configure().timeoutMs(2_000).signal(abort.signal).build();
    const execution = executor.execute(ALICE, WaitAction, {}, configuration);
    abort.abort();
    expect(await outcomeOf(execution)).toBeInstanceOf(AbortedError);
  });
});

test('an execution ends at its deadline, although perform returns a promise of another realm', async () => {
  const configuration = configure().timeoutMs(50).build();
  const execution = openExecutor().executor.execute(ALICE, ForeignAction, {}, configuration);
  const end = Promise.race([execution, new Promise((resolve) => setTimeout(resolve, 500, 'runs on'))]);
  await expect(end).rejects.toThrow(DeadlineExceededError);
});

test('an execution whose perform throws undefined has failed', async () => {
  const { executor } = openExecutor();
  const codes: unknown[] = [];
  const configuration = configure()
    .onReport(({ errorCode }) => codes.push(errorCode))
    .build();
  await expect(executor.execute(ALICE, ThrowAction, {}, configuration)).rejects.toBeUndefined();
  expect(codes).toEqual(['UNKNOWN']);
  const [{ outcomes } = { outcomes: undefined }] = executor.statistics();
  expect(outcomes).toEqual(new Map(Object.entries({ ok: 0, replayed: 0, UNKNOWN: 1 })));
});
