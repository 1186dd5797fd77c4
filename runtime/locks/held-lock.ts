import { AsyncLocalStorage } from 'node:async_hooks';
import { type Timer, time } from '../concurrency/time.js';
import type { EndTurn } from '../concurrency/turn-queue.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { LockLostError } from '../errors.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import { publicError } from '../sharding/public-error.js';
import type { LockHandle } from './lock-handle.js';
import type { LockClaim, LockStore } from './lock-store.js';

export interface HeldLockOptions {
  readonly shard: ShardIdentifier;
  readonly claim: LockClaim;
  readonly token: bigint;
  readonly store: LockStore;
  /** Remaining time of the lock, in milliseconds; slightly less than in the database. */
  readonly remainingMs: number;
  /** Default of `extend`, in milliseconds. */
  readonly holdMs: number;
  /** Lets the next waiter of this process query the database. */
  readonly endTurn: EndTurn;
}

type Held = ReadonlyMap<string, HeldLock>;

const context = new AsyncLocalStorage<Held>();
const LIMITS = { timeoutMs: 2_000 };

/** Identifies a lock in this process. */
export function lockKey(shard: ShardIdentifier, name: string): string {
  return `${shard.bits}/${name}`;
}

/** The lock if the calling code already runs under it. */
export function heldHere(shard: ShardIdentifier, name: string): LockHandle | undefined {
  const lock = context.getStore()?.get(lockKey(shard, name));
  return lock?.isHeld === true ? new InnerHandle(lock) : undefined;
}

/** A lock of this process, from its acquisition to its release or loss. */
export class HeldLock implements LockHandle {
  readonly shard: ShardIdentifier;
  readonly name: string;
  readonly token: bigint;
  readonly #options: HeldLockOptions;
  readonly #lost = new AbortController();
  #timer: Timer | undefined;
  #isHeld = true;

  constructor(options: HeldLockOptions) {
    this.shard = options.shard;
    this.name = options.claim.name;
    this.token = options.token;
    this.#options = options;
    this.#watch(options.remainingMs);
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  async verify(): Promise<void> {
    const { store } = this.#options;
    if (!(await this.#asked(() => store.verify(this.name, this.token, LIMITS)))) throw this.#lose();
  }

  async extend(holdMs: number = this.#options.holdMs): Promise<void> {
    const { store, claim } = this.#options;
    const askedAt = time.nowMs();
    if (!(await this.#asked(() => store.extend(claim, holdMs, LIMITS)))) throw this.#lose();
    if (this.#isHeld) this.#watch(holdMs - (time.nowMs() - askedAt));
  }

  run<T>(work: () => T): T {
    const held = new Map(context.getStore());
    return context.run(held.set(lockKey(this.shard, this.name), this), work);
  }

  async release(): Promise<void> {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    time.clearTimeout(this.#timer);
    const { store, claim, endTurn } = this.#options;
    try {
      await store.release(claim, LIMITS);
    } catch {
      // The database releases the lock when its hold time expires.
    }
    endTurn();
  }

  async #asked(ask: () => Promise<boolean>): Promise<boolean> {
    if (!this.#isHeld) return false;
    try {
      return await ask();
    } catch (error) {
      throw error instanceof DriverFailure ? publicError(error, this.shard) : error;
    }
  }

  #watch(remainingMs: number): void {
    time.clearTimeout(this.#timer);
    this.#timer = time.setTimeout(() => this.#lose(), Math.max(0, remainingMs)).unref();
  }

  #lose(): LockLostError {
    const error = new LockLostError(this.name);
    if (this.#isHeld) {
      this.#isHeld = false;
      time.clearTimeout(this.#timer);
      this.#lost.abort(error);
      this.#options.endTurn();
    }
    return error;
  }
}

/** The same lock for nested code, which cannot release it. */
class InnerHandle implements LockHandle {
  readonly #lock: HeldLock;

  constructor(lock: HeldLock) {
    this.#lock = lock;
  }

  get shard(): ShardIdentifier {
    return this.#lock.shard;
  }

  get name(): string {
    return this.#lock.name;
  }

  get token(): bigint {
    return this.#lock.token;
  }

  get signal(): AbortSignal {
    return this.#lock.signal;
  }

  verify(): Promise<void> {
    return this.#lock.verify();
  }

  extend(holdMs?: number): Promise<void> {
    return this.#lock.extend(holdMs);
  }

  run<T>(work: () => T): T {
    return this.#lock.run(work);
  }

  release(): Promise<void> {
    return Promise.resolve();
  }
}
