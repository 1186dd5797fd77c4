import { onAbort } from '../concurrency/abort-listeners.js';
import { deadlines } from '../concurrency/deadlines.js';
import { sleep, time } from '../concurrency/time.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { CircuitBreaker } from './circuit-breaker.js';
import { DriverFailure, type FailureReason } from './driver-failure.js';
import { forwarding } from './forwarding.js';
import { INTERNAL_ACCESS } from './internal-access.js';
import type {
  CallOptions,
  PoolStats,
  Rows,
  ShardDatabase,
  ShardSession,
  Statement,
} from './shard-database.js';

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

/** The database that is in use. */
interface Target {
  readonly database: ShardDatabase;
  readonly breaker: CircuitBreaker;
  /** How long calls without their own limit wait at a barrier, in milliseconds. */
  readonly timeoutMs: number;
}

/** Passes a call on to the database that is in use when it is sent. */
type Call<T> = (database: ShardDatabase, options: CallOptions | undefined) => Promise<T>;

const query =
  (statement: Statement): Call<Rows> =>
  (database, options) =>
    database.query(statement, options);
const acquire: Call<ShardSession> = (database, options) => database.acquire(options);

/**
 * One database of one shard as its callers use it. Each call passes, in this order: the guard, which refuses
 * applications inside `perform`; the refusal, while the shard is out of service; the barrier, while its server is
 * switched; and the circuit breaker, while the database is unreachable. Its pool can be replaced while it is used.
 */
export class ServedDatabase implements ShardDatabase {
  #target: Target;
  readonly #guard: () => void;
  /** Pools of callers that have kept their connections. */
  readonly #replaced: Set<ShardDatabase> = new Set();
  /** Resolves when callers may continue. */
  #barrier: Promise<void> | undefined;
  /** Creates the failure of all calls, which are not sent, while no call may pass. Undefined: calls pass. */
  refusal: (() => DriverFailure) | undefined;

  /**
   * @param timeoutMs how long calls without their own limit wait at a barrier
   * @param guard throws where no statement may be sent, except those with `INTERNAL_ACCESS`; also called for each call of
   *   sessions that were opened earlier
   */
  constructor(database: ShardDatabase, timeoutMs: number, guard: () => void = () => {}) {
    this.#target = targetOf(database, timeoutMs);
    this.#guard = guard;
  }

  get shard(): ShardIdentifier {
    return this.#target.database.shard;
  }

  get kind(): ShardDatabase['kind'] {
    return this.#target.database.kind;
  }

  get description(): string {
    return this.#target.database.description;
  }

  get sessionState(): boolean {
    return this.#target.database.sessionState;
  }

  /** Bypasses the breaker: a listener retries its connection itself. */
  get listen(): ShardDatabase['listen'] {
    const { database } = this.#target;
    const listen = database.listen?.bind(database);
    if (listen === undefined) return undefined;
    return (channel, listener) => guarded(this.#guard, () => listen(channel, listener));
  }

  /** The same database without guard, barrier and refusal, for preparing it. */
  get past(): ShardDatabase {
    return forwarding(this, {
      query: (statement, options) => sendTo(this.#target, options, query(statement)),
      acquire: (options) => sendTo(this.#target, options, acquire),
    });
  }

  query(statement: Statement, options?: CallOptions): Promise<Rows> {
    return this.#pass(options, query(statement));
  }

  acquire(options?: CallOptions): Promise<ShardSession> {
    if (options?.access === INTERNAL_ACCESS) return this.#pass(options, acquire);
    return this.#pass(options, async (database, limits) => {
      return guardedSession(await database.acquire(limits), this.#guard);
    });
  }

  stats(): PoolStats {
    const { database, breaker } = this.#target;
    return { ...database.stats(), circuit: breaker.state };
  }

  /** Sends all later calls to another pool of the same database. Calls in progress finish on the old one. */
  replace(database: ShardDatabase, timeoutMs: number): void {
    const old = this.#target.database;
    this.#target = targetOf(database, timeoutMs);
    this.#replaced.add(old);
    // Not awaited: callers may keep their connections up to their own limits.
    void quiet(old, Number.POSITIVE_INFINITY).then(async () => {
      await old.close();
      this.#replaced.delete(old);
    });
  }

  async close(graceMs?: number): Promise<void> {
    const pools = [this.#target.database, ...this.#replaced];
    await Promise.all(pools.map((pool) => pool.close(graceMs)));
  }

  /**
   * Holds new calls back, waits until running ones have ended, and closes the pool, so that this process no longer
   * writes to the old database. Continues with another database once `check` resolves.
   *
   * @throws DriverFailure if calls are still running after `patienceMs`; then nothing has changed
   * @throws errors of `check`; then callers continue with the old database
   */
  async switchTo({ patienceMs, timeoutMs, check, openNew, openOld }: SwitchOptions): Promise<void> {
    await this.alone(patienceMs, async () => {
      await this.#target.database.close(0);
      try {
        await check();
        this.#target = targetOf(openNew(), timeoutMs);
      } catch (error) {
        this.#target = targetOf(openOld(), this.#target.timeoutMs);
        throw error;
      }
    });
  }

  /**
   * Holds new calls back, waits until running ones have ended, and works. Only calls of `past` pass meanwhile.
   *
   * @throws DriverFailure if calls are still running after `patienceMs`; and errors of `work`
   */
  async alone(patienceMs: number, work: () => Promise<void>): Promise<void> {
    let open = (): void => {};
    this.#barrier = new Promise((resolve) => {
      open = resolve;
    });
    try {
      // A transaction that began on a replaced pool is on the old server, too.
      const pools = [this.#target.database, ...this.#replaced];
      const areQuiet = await Promise.all(pools.map((pool) => quiet(pool, patienceMs)));
      if (areQuiet.includes(false)) {
        throw new DriverFailure(`${this.description}: calls are still in progress`, {
          phase: 'not-sent',
          reason: 'pool-exhausted',
        });
      }
      await work();
    } finally {
      this.#barrier = undefined;
      open();
    }
  }

  #pass<T>(options: CallOptions | undefined, call: Call<T>): Promise<T> {
    try {
      if (options?.access !== INTERNAL_ACCESS) this.#guard();
    } catch (error) {
      return Promise.reject(error);
    }
    if (this.refusal !== undefined) return Promise.reject(this.refusal());
    if (this.#barrier === undefined) return sendTo(this.#target, options, call);
    const { timeoutMs } = this.#target;
    const send = (limits: CallOptions): Promise<T> =>
      this.refusal === undefined ? sendTo(this.#target, limits, call) : Promise.reject(this.refusal());
    return afterBarrier(() => this.#barrier, this.description, { timeoutMs, ...options }, send);
  }
}

function sendTo<T>(
  { database, breaker }: Target,
  options: CallOptions | undefined,
  call: Call<T>,
): Promise<T> {
  return breaker.run(() => call(database, options));
}

function targetOf(database: ShardDatabase, timeoutMs: number): Target {
  return { database, breaker: new CircuitBreaker(), timeoutMs };
}

/** Sends a call as soon as no barrier holds it back, in the same turn, with the time that is left. */
async function afterBarrier<T>(
  barrier: () => Promise<void> | undefined,
  description: string,
  options: CallOptions & { readonly timeoutMs: number },
  send: (options: CallOptions) => Promise<T>,
): Promise<T> {
  const { place, signal } = options;
  const deadline = time.nowMs() + options.timeoutMs;
  const failure = (reason: FailureReason, message: string): DriverFailure =>
    new DriverFailure(`${description}: ${message}`, { phase: 'not-sent', reason });
  const late = (): DriverFailure => failure('unreachable', 'the database is being switched');
  // Aborted when the caller leaves its place, or aborts.
  const exit = new AbortController();
  const left = new Promise<never>((_, reject) => onAbort(exit.signal, () => reject(exit.signal.reason)));
  left.catch(() => {});
  const abort = (): void => exit.abort(failure('aborted', 'aborted during a switch'));
  if (place !== undefined) place.leave = () => exit.abort(late());
  const unlisten = signal && onAbort(signal, abort);
  if (signal?.aborted === true) abort();
  try {
    for (let closed = barrier(); closed !== undefined; closed = barrier())
      await deadlines.race(Promise.race([closed, left]), deadline, late);
    // It may have left after the barrier was opened.
    exit.signal.throwIfAborted();
  } finally {
    unlisten?.();
    if (place !== undefined) place.leave = undefined;
  }
  return send({ ...options, timeoutMs: Math.max(deadline - time.nowMs(), 1) });
}

function guarded<T>(guard: () => void, call: () => Promise<T>): Promise<T> {
  try {
    guard();
  } catch (error) {
    return Promise.reject(error);
  }
  return call();
}

function guardedSession(session: ShardSession, guard: () => void): ShardSession {
  return {
    query: (statement, options) => guarded(guard, () => session.query(statement, options)),
    script: (sql, options) => guarded(guard, () => session.script(sql, options)),
    release: () => session.release(),
    destroy: () => session.destroy(),
  };
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
