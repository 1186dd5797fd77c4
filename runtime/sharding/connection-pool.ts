import { onAbort } from '../concurrency/abort-listeners.js';
import { atMost } from '../concurrency/at-most.js';
import { outside } from '../concurrency/outside.js';
import { Sweep } from '../concurrency/sweep.js';
import { type Timer, time } from '../concurrency/time.js';
import { type BudgetedPool, ConnectionBudget } from './connection-budget.js';
import { DriverFailure, type FailureReason } from './driver-failure.js';
import type {
  ConnectionAges,
  ConnectionPoolOptions,
  Idle,
  PooledConnection,
  Waiter,
} from './pooled-connection.js';
import type { CallOptions, Place, PoolStats } from './shard-database.js';

/** Interval between checks of deadlines, in milliseconds. A call ends at most this long after its deadline. */
const SWEEP_INTERVAL_MS = 20;
/** Maximum waiting callers; a queue without a limit would only move the overload into memory. */
const MAXIMUM_WAITING = 10_000;
const DEFAULT_GRACE_MS = 5_000;

/**
 * A connection pool with a deadline and an abort signal per caller, which node-postgres's pool lacks. One coarse timer
 * serves all deadlines, and taking an idle connection allocates nothing.
 */
export class ConnectionPool<C extends PooledConnection> implements BudgetedPool {
  readonly #options: ConnectionPoolOptions<C>;
  readonly #ages: Required<ConnectionAges>;
  readonly #budget: ConnectionBudget;
  /** Connections, each with the time at which it reaches its maximum lifetime. */
  readonly #connections: Map<C, number> = new Map();
  /** Last in, first out, so that unneeded connections stay idle and are closed. */
  readonly #idle: Idle<C>[] = [];
  readonly #waiting: Set<Waiter<C>> = new Set();
  /** Connections held by listeners. */
  readonly #reserved: Set<C> = new Set();
  /** Number of discarded connections for which the server may still be working. */
  #leaving = 0;
  #opening = 0;
  #opened = 0;
  /** Time since when there is a connection, on the clock of `time.nowMs()`. */
  #openSince = 0;
  readonly #sweep = new Sweep(SWEEP_INTERVAL_MS, (heardUntilMs) => this.#expire(heardUntilMs));
  #idleTimer: Timer | undefined;
  #closed: Promise<void> | undefined;
  #whenQuiet: (() => void) | undefined;
  #lastOpenFailure: unknown;

  constructor(options: ConnectionPoolOptions<C>) {
    this.#options = options;
    const { idleTimeoutMs = 30_000, maximumLifetimeMs = 1_800_000 } = options.limits;
    this.#ages = { idleTimeoutMs, maximumLifetimeMs };
    this.#budget = options.budget ?? new ConnectionBudget(Number.POSITIVE_INFINITY);
    this.#budget.join(this);
  }

  get size(): number {
    return this.#connections.size + this.#reserved.size + this.#leaving + this.#opening;
  }

  get reserved(): number {
    return this.#reserved.size;
  }

  shedIdle(): boolean {
    const oldest = this.#idle.shift();
    if (oldest !== undefined) this.#retire(oldest.connection);
    return oldest !== undefined;
  }

  wake(): void {
    this.#openForWaiting();
  }

  /** Takes an idle connection at once. Undefined if there is none, or if callers wait. */
  take(): C | undefined {
    let idle = this.#idle.pop();
    while (idle !== undefined && !idle.connection.usable) {
      this.discard(idle.connection);
      idle = this.#idle.pop();
    }
    return idle?.connection;
  }

  /**
   * Whether the holder may send another statement on the connection: no other caller waits, and the pool would not
   * close it.
   */
  mayKeep(connection: C): boolean {
    if (this.#closed !== undefined || this.#waiting.size > 0 || this.#isOld(connection)) return false;
    return !this.#budget.shouldYield(this, false);
  }

  /** The deadline of a call that starts now. */
  deadlineOf(options: CallOptions | undefined): number {
    return time.nowMs() + (options?.timeoutMs ?? this.#options.limits.statementTimeoutMs);
  }

  /**
   * A connection for one caller, who returns it with `release` or `discard`.
   *
   * @param waitMs maximum wait for one of the open connections, in milliseconds. Default: until `deadlineAt`
   * @throws DriverFailure with phase `not-sent`, or the error of `open`
   */
  acquire(
    deadlineAt: number,
    { signal, place }: CallOptions = {},
    waitMs: number = Number.POSITIVE_INFINITY,
  ): Promise<C> {
    if (this.#closed !== undefined) return Promise.reject(this.#refusal('closed', 'the pool is closed'));
    if (signal?.aborted === true) return Promise.reject(this.#refusal('aborted', 'aborted', signal.reason));
    const idle = this.take();
    if (idle !== undefined) return Promise.resolve(idle);
    if (this.#waiting.size >= MAXIMUM_WAITING) {
      return Promise.reject(this.#refusal('pool-exhausted', `${MAXIMUM_WAITING} callers are waiting`));
    }
    return this.#wait({ deadlineAt, waitMs }, signal, place);
  }

  /** Returns a connection. One that is no longer usable is discarded. */
  release(connection: C): void {
    if (!connection.usable) this.discard(connection);
    else if (this.#closed !== undefined) this.#retire(connection);
    else if (this.#isOld(connection) || this.#budget.shouldYield(this, this.#waiting.size > 0))
      this.#yield(connection);
    else this.#offer(connection);
  }

  /**
   * A connection for exclusive use, returned with `closeReserved` or `discard`. The pool keeps at least one for
   * statements and reserves none without a spare one.
   *
   * @throws DriverFailure with phase `not-sent`, or the error of `open`
   */
  async reserve(deadlineAt: number): Promise<C> {
    const noSpare = this.#refusal('pool-exhausted', 'no connection to spare for notifications');
    if (!this.#hasSpare()) throw noSpare;
    const connection = await this.acquire(deadlineAt);
    // During the wait, others may have reserved, and the connection may have been lost after it was granted.
    if (!this.#connections.has(connection)) throw this.#refusal('unreachable', 'the connection was lost');
    if (!this.#hasSpare()) {
      this.release(connection);
      throw noSpare;
    }
    this.#connections.delete(connection);
    this.#reserved.add(connection);
    return connection;
  }

  closeReserved(connection: C): Promise<void> {
    return this.#reserved.delete(connection) ? this.#close(connection) : Promise.resolve();
  }

  /** Destroys a connection, which may be lost, and frees its slot once the server's side is closed. */
  discard(connection: C): void {
    if (!this.#reserved.delete(connection) && !this.#connections.delete(connection)) return;
    const at = this.#idle.findIndex((idle) => idle.connection === connection);
    if (at >= 0) this.#idle.splice(at, 1);
    const gone = connection.destroy();
    this.#options.serverInDoubt?.();
    this.#noteQuiet();
    if (gone === undefined) {
      this.#makeRoom();
      return;
    }
    this.#leaving += 1;
    void gone.then(() => {
      this.#leaving -= 1;
      this.#makeRoom();
    });
  }

  /** Starts the checks of deadlines. Must be called whenever a call starts. */
  watch(): void {
    this.#sweep.start();
  }

  stats(): PoolStats {
    return {
      open: this.#connections.size,
      idle: this.#idle.length,
      waiting: this.#waiting.size,
      listening: this.#reserved.size,
      leaving: this.#leaving,
    };
  }

  /** Refuses waiting callers, lets running statements finish for `graceMs`, then closes all connections. */
  close(graceMs: number = DEFAULT_GRACE_MS): Promise<void> {
    this.#closed ??= this.#shutDown(graceMs);
    return this.#closed;
  }

  #hasSpare(): boolean {
    return this.#reserved.size + 2 <= this.#options.limits.maximumPoolSize && this.#budget.mayReserve();
  }

  #wait(
    limits: Pick<Waiter<C>, 'deadlineAt' | 'waitMs'>,
    signal: AbortSignal | undefined,
    place: Place | undefined,
  ): Promise<C> {
    return new Promise<C>((resolve, reject) => {
      const abort = (): void => {
        this.#waiting.delete(waiter);
        waiter.refuse(this.#refusal('aborted', 'aborted while waiting for a connection', signal?.reason));
      };
      const unlisten = signal === undefined ? undefined : onAbort(signal, abort);
      const end = (): void => {
        unlisten?.();
        if (place !== undefined) place.leave = undefined;
      };
      const waiter: Waiter<C> = {
        ...limits,
        since: time.nowMs(),
        grant: (connection) => {
          end();
          resolve(connection);
        },
        refuse: (failure) => {
          end();
          reject(failure);
        },
      };
      if (place !== undefined) {
        place.leave = () => {
          this.#waiting.delete(waiter);
          waiter.refuse(this.#lateness());
        };
      }
      this.#waiting.add(waiter);
      this.#openForWaiting();
      this.watch();
    });
  }

  #offer(connection: C): void {
    const [next] = this.#waiting;
    if (next !== undefined) {
      this.#waiting.delete(next);
      if (this.#waiting.size === 0) this.#budget.satisfied(this);
      next.grant(connection);
      return;
    }
    this.#idle.push({ connection, since: time.nowMs() });
    this.#watchIdle();
  }

  #openForWaiting(): void {
    while (
      this.#closed === undefined &&
      this.#opening < this.#waiting.size &&
      this.size < this.#options.limits.maximumPoolSize &&
      this.#budget.take(this)
    ) {
      this.#opening += 1;
      // Events of a connection belong to no caller: the caller that opens it may be a `perform`.
      outside(() => this.#options.open((lost) => this.discard(lost))).then(
        (connection) => this.#add(connection),
        (failure: unknown) => this.#openFailed(failure),
      );
    }
  }

  #add(connection: C): void {
    this.#opening -= 1;
    this.#lastOpenFailure = undefined;
    if (this.#connections.size === 0) this.#openSince = time.nowMs();
    // A random lifetime, so that connections which were opened together are not closed together.
    const lifetimeMs = this.#ages.maximumLifetimeMs * (1 - (this.#opened % 8) / 40);
    this.#connections.set(connection, time.nowMs() + lifetimeMs);
    this.#opened += 1;
    this.#options.serverInDoubt?.();
    this.release(connection);
  }

  #isOld(connection: C): boolean {
    return time.nowMs() >= (this.#connections.get(connection) ?? Number.POSITIVE_INFINITY);
  }

  /**
   * If other connections are open, a waiting caller may still get one of them. Otherwise the database is unreachable,
   * and all waiting callers fail.
   */
  #openFailed(failure: unknown): void {
    this.#opening -= 1;
    this.#budget.give();
    this.#lastOpenFailure = failure;
    if (this.#connections.size === 0 && this.#opening === 0) this.#refuseAll(failure);
    this.#noteQuiet();
  }

  #refuseAll(failure: unknown): void {
    for (const waiter of this.#waiting) waiter.refuse(failure);
    this.#waiting.clear();
  }

  /** Expires overdue calls and waits. @returns whether deadlines are left */
  #expire(now: number): boolean {
    let pending = false;
    for (const connection of this.#connections.keys()) {
      if (connection.deadlineAt <= now) connection.expire();
      else pending ||= connection.deadlineAt !== Number.POSITIVE_INFINITY;
    }
    for (const waiter of this.#waiting) {
      if (this.#endOf(waiter) > now) continue;
      this.#waiting.delete(waiter);
      waiter.refuse(this.#lateness());
    }
    if (this.#waiting.size === 0) this.#budget.satisfied(this);
    return pending || this.#waiting.size > 0;
  }

  /** The wait for a free connection starts when the first connection is open: before, none could become free. */
  #endOf({ since, deadlineAt, waitMs }: Waiter<C>): number {
    if (this.#connections.size === 0 && this.#opening > 0) return deadlineAt;
    return Math.min(deadlineAt, Math.max(since, this.#openSince) + waitMs);
  }

  /**
   * The reason for a wait that ended at its deadline. Only a failed connection attempt shows that the database is
   * unreachable: an attempt in progress may wait for this process's own event loop.
   */
  #lateness(): DriverFailure {
    if (this.size > this.#opening || this.#budget.open >= this.#budget.maximum)
      return this.#refusal('pool-exhausted', 'no connection became free in time', this.#lastOpenFailure);
    const reason = this.#lastOpenFailure === undefined ? 'pool-exhausted' : 'unreachable';
    return this.#refusal(reason, 'no connection could be opened in time', this.#lastOpenFailure);
  }

  #watchIdle(): void {
    if (this.#idleTimer !== undefined || this.#ages.idleTimeoutMs === Number.POSITIVE_INFINITY) return;
    this.#idleTimer = time.setTimeout(() => this.#closeIdle(), this.#ages.idleTimeoutMs).unref();
  }

  #closeIdle(): void {
    this.#idleTimer = undefined;
    const bound = time.nowMs() - this.#ages.idleTimeoutMs;
    while (this.#idle[0] !== undefined && this.#idle[0].since <= bound) this.shedIdle();
    if (this.#idle.length > 0) this.#watchIdle();
  }

  /** Closes a connection for another pool, or for a younger connection. Callers in this queue keep waiting. */
  #yield(connection: C): void {
    this.#retire(connection);
    this.#openForWaiting();
  }

  #retire(connection: C): Promise<void> {
    this.#connections.delete(connection);
    if (this.#connections.size === 0) this.#options.serverInDoubt?.();
    return this.#close(connection);
  }

  #makeRoom(): void {
    this.#budget.give();
    this.#openForWaiting();
  }

  #close(connection: C): Promise<void> {
    const closing = connection.close();
    void closing.then(() => this.#makeRoom());
    this.#noteQuiet();
    return closing;
  }

  async #shutDown(graceMs: number): Promise<void> {
    this.#refuseAll(this.#refusal('closed', 'the pool was closed'));
    time.clearTimeout(this.#idleTimer);
    const idle = this.#idle.splice(0).map(({ connection }) => this.#retire(connection));
    await this.#quiet(graceMs);
    for (const connection of [...this.#connections.keys(), ...this.#reserved]) this.discard(connection);
    this.#budget.leave(this);
    this.#sweep.stop();
    await Promise.all(idle);
  }

  /** Resolves when no connection is in use, or after `graceMs`. */
  async #quiet(graceMs: number): Promise<void> {
    if (this.#connections.size === 0 && this.#opening === 0) return;
    const quiet = new Promise<void>((resolve) => {
      this.#whenQuiet = resolve;
    });
    await atMost(quiet, graceMs);
  }

  #noteQuiet(): void {
    if (this.#connections.size === 0 && this.#opening === 0) this.#whenQuiet?.();
  }

  #refusal(reason: FailureReason, message: string, cause?: unknown): DriverFailure {
    return new DriverFailure(`${this.#options.description}: ${message}`, {
      phase: 'not-sent',
      reason,
      cause,
    });
  }
}
