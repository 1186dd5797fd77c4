import { deadlines } from '../concurrency/deadlines.js';
import { sleep, time } from '../concurrency/time.js';
import { onAbort } from './abort-listeners.js';
import { DriverFailure, type FailureReason } from './driver-failure.js';
import { ForwardingDatabase } from './forwarding-database.js';
import type { CallOptions, Place, Rows, ShardDatabase, ShardSession, Statement } from './shard-database.js';

const POLL_INTERVAL_MS = 5;

export interface SwitchOptions {
  /** How long calls without their own limit wait at a later barrier, in milliseconds. */
  readonly timeoutMs: number;
  /** Time limit for calls in progress to end, in milliseconds. */
  readonly patienceMs: number;
  /** Resolves when callers may use the new database; throws to refuse it. */
  readonly check: () => Promise<void>;
  readonly openNew: () => ShardDatabase;
  readonly openOld: () => ShardDatabase;
}

/**
 * One shard's database, whose pool can be replaced while it is used. Callers notice only the wait
 * while a server is switched.
 */
export class SwitchableDatabase extends ForwardingDatabase {
  #timeoutMs: number;
  /** Pools of callers that have kept their connections. */
  readonly #replaced: Set<ShardDatabase> = new Set();
  /** Resolves when callers may continue. */
  #barrier: Promise<void> | undefined;
  /** Creates the failure of all calls while no call may pass. */
  #refusal: (() => DriverFailure) | undefined;

  /** @param timeoutMs how long calls without their own limit wait at a barrier */
  constructor(target: ShardDatabase, timeoutMs: number) {
    super(target);
    this.#timeoutMs = timeoutMs;
  }

  /** The same database without barrier and refusal, for preparing it. */
  get past(): ShardDatabase {
    return {
      shard: this.shard,
      kind: this.kind,
      description: this.description,
      sessionState: this.sessionState,
      query: (statement, options) => this.target.query(statement, options),
      acquire: (options) => this.target.acquire(options),
      stats: () => this.stats(),
      close: (graceMs) => this.close(graceMs),
    };
  }

  override query(statement: Statement, options?: CallOptions): Promise<Rows> {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal());
    if (this.#barrier === undefined) return this.target.query(statement, options);
    return this.#afterBarrier(options, (limits) => this.target.query(statement, limits));
  }

  override acquire(options?: CallOptions): Promise<ShardSession> {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal());
    if (this.#barrier === undefined) return this.target.acquire(options);
    return this.#afterBarrier(options, (limits) => this.target.acquire(limits));
  }

  /** Fails every call at once as not sent. Undefined: calls pass again. */
  refuse(refusal: (() => DriverFailure) | undefined): void {
    this.#refusal = refusal;
  }

  /** Sends all later calls to another pool of the same database. Calls in progress finish on the old one. */
  replace(target: ShardDatabase, timeoutMs: number): void {
    const old = this.#swap(target, timeoutMs);
    this.#replaced.add(old);
    // Not awaited: callers may keep their connections up to their own limits.
    void quiet(old, Number.POSITIVE_INFINITY).then(async () => {
      await old.close();
      this.#replaced.delete(old);
    });
  }

  override async close(graceMs?: number): Promise<void> {
    await Promise.all([this.target, ...this.#replaced].map((database) => database.close(graceMs)));
  }

  /**
   * Holds new calls back, waits until running ones have ended, and closes the pool, so that this process no longer
   * writes to the old database. Continues with another database once `check` resolves.
   *
   * @throws DriverFailure if calls are still running after `patienceMs`; then nothing has changed
   * @throws errors of `check`; then callers continue with the old database
   */
  async switchTo(options: SwitchOptions): Promise<void> {
    let open = (): void => {};
    this.#barrier = new Promise((resolve) => {
      open = resolve;
    });
    try {
      // A transaction that began on a replaced pool is on the old server, too.
      const pools = [this.target, ...this.#replaced];
      const areQuiet = await Promise.all(pools.map((pool) => quiet(pool, options.patienceMs)));
      if (areQuiet.includes(false)) {
        throw new DriverFailure(`${this.description}: calls are still in progress`, {
          phase: 'not-sent',
          reason: 'pool-exhausted',
        });
      }
      await this.target.close(0);
      try {
        await options.check();
        this.#swap(options.openNew(), options.timeoutMs);
      } catch (error) {
        this.#swap(options.openOld(), this.#timeoutMs);
        throw error;
      }
    } finally {
      this.#barrier = undefined;
      open();
    }
  }

  #swap(target: ShardDatabase, timeoutMs: number): ShardDatabase {
    const old = this.target;
    this.target = target;
    this.#timeoutMs = timeoutMs;
    return old;
  }

  async #afterBarrier<T>(
    options: CallOptions | undefined,
    call: (limits: CallOptions) => Promise<T>,
  ): Promise<T> {
    const deadline = time.nowMs() + (options?.timeoutMs ?? this.#timeoutMs);
    const refusal = (reason: FailureReason, message: string): DriverFailure =>
      new DriverFailure(`${this.description}: ${message}`, { phase: 'not-sent', reason });
    const late = (): DriverFailure => refusal('unreachable', 'the database is being switched');
    const caller = new WaitingCaller(options, late, () => refusal('aborted', 'aborted during a switch'));
    try {
      while (this.#barrier !== undefined) {
        await deadlines.race(Promise.race([this.#barrier, caller.left]), deadline, late);
      }
      // It may have left after the barrier was opened.
      caller.requireStay();
    } finally {
      caller.end();
    }
    return call({ ...options, timeoutMs: Math.max(deadline - time.nowMs(), 1) });
  }
}

/** A caller behind a barrier, which may leave its place or abort. */
class WaitingCaller {
  /** Rejects when it leaves. */
  readonly left: Promise<never>;
  readonly #place: Place | undefined;
  readonly #unlisten: (() => void) | undefined;
  #failure: DriverFailure | undefined;

  constructor({ place, signal }: CallOptions = {}, late: () => DriverFailure, aborted: () => DriverFailure) {
    let reject = (_: DriverFailure): void => {};
    this.left = new Promise((_, fail) => {
      reject = fail;
    });
    this.left.catch(() => {});
    const leave = (failure: DriverFailure): void => {
      this.#failure ??= failure;
      reject(failure);
    };
    this.#place = place;
    if (place !== undefined) place.leave = () => leave(late());
    if (signal?.aborted === true) leave(aborted());
    else this.#unlisten = signal && onAbort(signal, () => leave(aborted()));
  }

  /** @throws the failure, if it has left */
  requireStay(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  end(): void {
    this.#unlisten?.();
    if (this.#place !== undefined) this.#place.leave = undefined;
  }
}

/** Waits until the pool is idle. False: it was still in use after `patienceMs`. */
async function quiet(database: ShardDatabase, patienceMs: number): Promise<boolean> {
  const giveUpAt = time.nowMs() + patienceMs;
  for (;;) {
    const { open, idle, waiting } = database.stats();
    if (waiting === 0 && open === idle) return true;
    if (time.nowMs() >= giveUpAt) return false;
    await sleep(POLL_INTERVAL_MS, { ref: false });
  }
}
