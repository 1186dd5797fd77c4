import { deadlines } from '../concurrency/deadlines.js';
import { sleep, time } from '../concurrency/time.js';
import { DriverFailure } from './driver-failure.js';
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
    // Not awaited: callers may keep their connections up to their own limits.
    void quiet(old, Number.POSITIVE_INFINITY).then(() => old.close());
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
      if (!(await quiet(this.target, options.patienceMs))) {
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
    const late = (): Error =>
      new DriverFailure(`${this.description}: the database is being switched`, {
        phase: 'not-sent',
        reason: 'unreachable',
      });
    const left = leaving(options?.place, late);
    while (this.#barrier !== undefined) {
      await deadlines.race(Promise.race([this.#barrier, left]), deadline, late);
    }
    if (options?.place !== undefined) options.place.leave = undefined;
    return call({ ...options, timeoutMs: Math.max(deadline - time.nowMs(), 1) });
  }
}

/** Rejects when the caller leaves its place. */
function leaving(place: Place | undefined, late: () => Error): Promise<never> {
  return new Promise((_, reject) => {
    if (place !== undefined) place.leave = () => reject(late());
  });
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
