import { currentPerformScope } from '../action/perform-scope.js';
import { type Backoff, backoffMs } from '../concurrency/backoff.js';
import { KeyedMutex, type QueueTicket, type Release } from '../concurrency/keyed-mutex.js';
import { sleep, time } from '../concurrency/time.js';
import { uuid7 } from '../domain/id-source.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { isUnstorable } from '../domain/storable-text.js';
import { AbortedError, LockTimeoutError, ValidationError, WriteInPerformError } from '../errors.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import { callShard } from '../sharding/public-error.js';
import type { CallOptions } from '../sharding/shard-database.js';
import { sqlStateMeaning } from '../sharding/sql-state.js';
import { holdLock, requireRange, wholeHoldMs } from './held-lock.js';
import type { LockHandle, SqlCondition } from './lock-handle.js';
import { heldUnder, type LockClaim, LockStore } from './lock-store.js';

/** Time limits of one lock. */
export interface LockOptions {
  /** Maximum wait for the lock, in milliseconds; 0: try once. Default 5,000. */
  readonly waitMs?: number;
  /** Hold time unless extended, in milliseconds. Afterwards the lock is free. Default: 30,000. */
  readonly holdMs?: number;
  /** Ends the wait when aborted. */
  readonly signal?: AbortSignal;
}

const DEFAULT_WAIT_MS = 5_000;
const DEFAULT_HOLD_MS = 30_000;
const MAXIMUM_NAME_LENGTH = 255;
/** Prefix of the runtime's own locks. */
const OWN = 'fw:';
const BACKOFF: Backoff = { firstMs: 10, longestMs: 120, least: 10 };

/**
 * Locks by name on one shard, for work that optimistic locking cannot protect: single flight, effects outside of the
 * database. A lock is a row with an expiry and needs no session. Of the waiters for one lock in this process, one
 * queries the database. When this process releases the lock, its next waiter queries at once. Between processes, the
 * first query gets the lock.
 */
export class KeyedLockProvider {
  readonly #databases: DatabaseRegistry;
  readonly #random: () => number;
  readonly #mutex = new KeyedMutex();

  /** @param random from 0 (inclusive) to 1 (exclusive) @internal */
  constructor(databases: DatabaseRegistry, random: () => number = Math.random) {
    this.#databases = databases;
    this.#random = random;
  }

  /**
   * Waits for the lock, also in code that already holds it: pass the handle on instead.
   *
   * @param name 1 to 255 characters; names that begin with `fw:` are reserved for the runtime
   * @throws LockTimeoutError if it was not released in time
   * @throws AbortedError if the signal fired
   * @throws WriteInPerformError inside `perform`
   * @throws UnknownShardError
   * @throws ValidationError
   * @throws ShardUnavailableError, ShardBusyError if the shard does not answer
   */
  async acquire(shard: ShardIdentifier, name: string, options: LockOptions = {}): Promise<LockHandle> {
    const wait = waitFor(name, options);
    const store = new LockStore(this.#databases.database(shard));
    const place = this.#mutex.queue(`${shard.bits}/${name}`);
    try {
      await reach(place, wait);
      return await callShard(shard, () => this.#ask(shard, store, wait, place.leave));
    } catch (error) {
      place.leave();
      throw error;
    }
  }

  /**
   * Runs `work` under the lock and releases it afterwards.
   *
   * @throws LockLostError if `work` took longer than the lock was held: another holder may have run meanwhile
   * @throws errors of `work` and of `acquire`
   */
  async withLock<T>(
    shard: ShardIdentifier,
    name: string,
    work: (lock: LockHandle) => Promise<T> | T,
    options: LockOptions = {},
  ): Promise<T> {
    const lock = await this.acquire(shard, name, options);
    try {
      const result = await work(lock);
      lock.signal.throwIfAborted();
      return result;
    } finally {
      await lock.release();
    }
  }

  /** Whether the lock is currently held under this token. @throws ShardUnavailableError, ShardBusyError */
  async verify(shard: ShardIdentifier, name: string, token: bigint): Promise<boolean> {
    const store = new LockStore(this.#databases.database(shard));
    return callShard(shard, () => store.verify(name, token));
  }

  /** Deletes at most `limit` locks that were unused for a day. Returns their number. @throws DriverFailure */
  purge(shard: ShardIdentifier, limit: number, options: CallOptions): Promise<number> {
    return new LockStore(this.#databases.database(shard)).purge(limit, options);
  }

  async #ask(shard: ShardIdentifier, store: LockStore, wait: Wait, leaveQueue: Release): Promise<LockHandle> {
    const claim = { name: wait.name, owner: uuid7.next(shard.bits) };
    const { holdMs } = wait;
    try {
      for (let attempt = 1; ; attempt += 1) {
        const askedMs = time.nowMs();
        const token = await tryOnce(store, claim, wait);
        if (token !== undefined) return holdLock({ shard, claim, token, store, holdMs, askedMs, leaveQueue });
        const remainingMs = wait.deadline - time.nowMs();
        if (remainingMs <= 0) timedOut(wait);
        // Pauses grow and are random, so that processes do not query in step.
        await pause(Math.min(backoffMs(attempt + 1, BACKOFF, this.#random()), remainingMs), wait);
      }
    } catch (error) {
      // The request whose reply was lost may have been granted the lock, which would then stay held until it expires.
      store.release(claim).catch(() => {});
      throw error;
    }
  }
}

/**
 * A condition for statements on the lock's own shard: they have an effect only while the lock is held under this token.
 * Inside a transaction, no other holder can get the lock before the transaction ends.
 *
 * @param firstParameter number of the first of two parameters: 3 for `$3` and `$4`
 */
export function lockCondition(
  lock: Pick<LockHandle, 'name' | 'token'>,
  firstParameter: number,
): SqlCondition {
  const held = heldUnder(`$${firstParameter}::text`, `$${firstParameter + 1}::bigint`);
  return { text: `EXISTS (SELECT ${held} FOR SHARE)`, values: [lock.name, String(lock.token)] };
}

interface Wait {
  readonly name: string;
  readonly waitMs: number;
  readonly holdMs: number;
  readonly signal: AbortSignal | undefined;
  /** By `time.nowMs()`. */
  readonly deadline: number;
}

/** Checks what a caller asks for. @throws WriteInPerformError, ValidationError */
function waitFor(name: string, options: LockOptions): Wait {
  const scope = currentPerformScope();
  if (scope !== undefined) {
    throw new WriteInPerformError(
      `${scope.actionName} requested the lock ${name} inside perform; acquire it around execute()`,
    );
  }
  const { waitMs = DEFAULT_WAIT_MS, holdMs = DEFAULT_HOLD_MS, signal } = options;
  requireName(name);
  requireRange('waitMs', waitMs, 0);
  return { name, waitMs, holdMs: wholeHoldMs(holdMs), signal, deadline: time.nowMs() + waitMs };
}

/** Waits for the turn of a place among the waiters of this process. */
async function reach({ reached }: QueueTicket, wait: Wait): Promise<void> {
  if (wait.signal?.aborted === true) throw aborted(wait, wait.signal.reason);
  const inTurn = new AbortController();
  const signal = wait.signal === undefined ? inTurn.signal : AbortSignal.any([inTurn.signal, wait.signal]);
  try {
    await Promise.race([reached, pause(wait.waitMs, wait, signal).then(() => timedOut(wait))]);
  } finally {
    inTurn.abort();
  }
}

/**
 * Tries to get the lock once. A request whose reply was lost may have been granted; the next one, by the same owner,
 * finds out.
 */
async function tryOnce(store: LockStore, claim: LockClaim, wait: Wait): Promise<bigint | undefined> {
  try {
    return await store.acquire(claim, wait.holdMs);
  } catch (error) {
    if (!(error instanceof DriverFailure) || !mayPass(error) || time.nowMs() >= wait.deadline) throw error;
    return undefined;
  }
}

/** @throws AbortedError at once when the signal fires */
async function pause(milliseconds: number, wait: Wait, signal = wait.signal): Promise<void> {
  try {
    await sleep(milliseconds, { signal });
  } catch (cause) {
    throw aborted(wait, cause);
  }
}

function aborted({ name }: Wait, cause: unknown): AbortedError {
  return new AbortedError(`Waiting for the lock ${name} was aborted`, { cause });
}

function timedOut({ name, waitMs }: Wait): never {
  throw new LockTimeoutError(name, waitMs);
}

/** Whether a retry may succeed: the reply was lost, or a row was locked briefly. */
function mayPass({ phase, sqlState }: DriverFailure): boolean {
  if (phase === 'in-flight') return true;
  if (sqlState === undefined) return false;
  const meaning = sqlStateMeaning(sqlState);
  return meaning === 'locked' || meaning === 'transient';
}

function requireName(name: string): void {
  const isOwn = name.startsWith(OWN);
  if (!isOwn && name.length >= 1 && name.length <= MAXIMUM_NAME_LENGTH && !isUnstorable(name)) return;
  const rule = isOwn
    ? `must not begin with ${OWN} (reserved for the runtime)`
    : `has 1 to ${MAXIMUM_NAME_LENGTH} characters, without NUL or half of a surrogate pair`;
  throw new ValidationError(`The name of a lock ${rule}`, { field: 'name' });
}
