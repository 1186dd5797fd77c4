import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { type CallEnd, CircuitBreaker } from './circuit-breaker.js';
import { DriverFailure } from './driver-failure.js';
import type {
  CallOptions,
  PoolStats,
  Rows,
  ShardDatabase,
  ShardSession,
  Statement,
} from './shard-database.js';

/** A database behind a circuit breaker: while it is unreachable, calls fail at once. */
export class BreakerDatabase implements ShardDatabase {
  readonly #database: ShardDatabase;
  readonly #breaker: CircuitBreaker;

  constructor(database: ShardDatabase, breaker: CircuitBreaker = new CircuitBreaker()) {
    this.#database = database;
    this.#breaker = breaker;
  }

  get shard(): ShardIdentifier {
    return this.#database.shard;
  }

  get kind(): ShardDatabase['kind'] {
    return this.#database.kind;
  }

  get description(): string {
    return this.#database.description;
  }

  get sessionState(): boolean {
    return this.#database.sessionState;
  }

  query(statement: Statement, options?: CallOptions): Promise<Rows> {
    return this.#guarded(() => this.#database.query(statement, options));
  }

  acquire(options?: CallOptions): Promise<ShardSession> {
    return this.#guarded(() => this.#database.acquire(options));
  }

  /** Bypasses the breaker: a listener retries its connection itself. */
  get listen(): ShardDatabase['listen'] {
    return this.#database.listen?.bind(this.#database);
  }

  stats(): PoolStats {
    return { ...this.#database.stats(), circuit: this.#breaker.state };
  }

  close(graceMs?: number): Promise<void> {
    return this.#database.close(graceMs);
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
