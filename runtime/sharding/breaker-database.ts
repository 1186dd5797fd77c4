import { type CallEnd, CircuitBreaker } from './circuit-breaker.js';
import { DriverFailure } from './driver-failure.js';
import { ForwardingDatabase } from './forwarding-database.js';
import type {
  CallOptions,
  PoolStats,
  Rows,
  ShardDatabase,
  ShardSession,
  Statement,
} from './shard-database.js';

/**
 * A database behind a circuit breaker: while it is unreachable, calls fail at once. `listen` bypasses the breaker: a
 * listener retries its connection itself.
 */
export class BreakerDatabase extends ForwardingDatabase {
  readonly #breaker: CircuitBreaker;

  constructor(database: ShardDatabase, breaker: CircuitBreaker = new CircuitBreaker()) {
    super(database);
    this.#breaker = breaker;
  }

  override query(statement: Statement, options?: CallOptions): Promise<Rows> {
    return this.#guarded(() => super.query(statement, options));
  }

  override acquire(options?: CallOptions): Promise<ShardSession> {
    return this.#guarded(() => super.acquire(options));
  }

  override stats(): PoolStats {
    return { ...super.stats(), circuit: this.#breaker.state };
  }

  async #guarded<T>(call: () => Promise<T>): Promise<T> {
    this.#breaker.enter();
    let result: T;
    try {
      result = await call();
    } catch (error) {
      const failure = error instanceof DriverFailure ? error : undefined;
      this.#breaker.leave(endOf(failure), failure);
      throw error;
    }
    this.#breaker.leave('reached');
    return result;
  }
}

/** The loss of a call in flight is inconclusive: its connection may have been opened long before. */
function endOf(failure: DriverFailure | undefined): CallEnd {
  if (failure === undefined || failure.phase === 'answered') return 'reached';
  return failure.reason === 'unreachable' ? 'unreachable' : 'inconclusive';
}
