import type { DataSourceConfig } from '../config/types.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { ConnectionBudget } from './connection-budget.js';
import { ConnectionPool, type PooledConnection } from './connection-pool.js';
import { PooledSession } from './pooled-session.js';
import type {
  CallOptions,
  PoolStats,
  Rows,
  ShardDatabase,
  ShardSession,
  Statement,
} from './shard-database.js';

export interface RunOptions<C> {
  /** `performance.now()` time. */
  readonly deadlineAt: number;
  /**
   * Called when the connection may be used by somebody else, before the caller hears of the result. A run with it is a
   * transaction of its own and must not leave one open.
   */
  readonly release?: ((connection: C) => void) | undefined;
}

/** A connection that sends statements, one at a time, or one behind the other. */
export interface RunnableConnection<C> extends PooledConnection {
  /** True while a transaction is open, also a failed one. */
  readonly inTransaction: boolean;
  run(statement: Statement, options: RunOptions<C>): Promise<Rows>;
  script(sql: string, options: RunOptions<C>): Promise<Rows>;
  /** Sends a lone statement behind the one under way; undefined if it has to wait. Absent: it always has to. */
  follow?(statement: Statement, options: RunOptions<C>): Promise<Rows> | undefined;
}

export interface PooledDatabaseOptions<C> {
  readonly shard: ShardIdentifier;
  readonly kind: ShardDatabase['kind'];
  readonly description: string;
  readonly limits: Pick<
    DataSourceConfig,
    'maximumPoolSize' | 'idleTimeoutMs' | 'maximumLifetimeMs' | 'statementTimeoutMs'
  >;
  /** Longest wait of a lone statement for a connection, in milliseconds. Default: its deadline. */
  readonly connectionWaitMs?: number;
  /** Default true. */
  readonly sessionState?: boolean;
  /** What the pool shares with those of other databases. Default: nothing. */
  readonly budget?: ConnectionBudget | undefined;
  /** Opens a connection; `onLost` is to be called when it is lost later, whether idle or in use. */
  readonly open: (onLost: (connection: C) => void) => Promise<C>;
  /** Called after the last connection was closed. */
  readonly closed?: () => Promise<void>;
}

/** The part of a database that both adapters have in common: a pool of connections, used whole or for one statement. */
export class PooledDatabase<C extends RunnableConnection<C>> implements ShardDatabase {
  readonly shard: ShardIdentifier;
  readonly kind: ShardDatabase['kind'];
  readonly description: string;
  readonly sessionState: boolean;
  readonly #pool: ConnectionPool<C>;
  readonly #release: (connection: C) => void;
  readonly #closed: () => Promise<void>;
  /** The connection that the last statement of each pipeline was sent on. */
  readonly #pipelines = new WeakMap<object, C>();
  readonly #connectionWaitMs: number;
  #closing: Promise<void> | undefined;

  constructor(options: PooledDatabaseOptions<C>) {
    this.shard = options.shard;
    this.kind = options.kind;
    this.description = options.description;
    this.sessionState = options.sessionState ?? true;
    this.#closed = options.closed ?? (() => Promise.resolve());
    this.#connectionWaitMs = options.connectionWaitMs ?? Number.POSITIVE_INFINITY;
    const onLost = (connection: C): void => this.#pool.discard(connection);
    this.#pool = new ConnectionPool({
      maximumSize: options.limits.maximumPoolSize,
      idleTimeoutMs: options.limits.idleTimeoutMs,
      maximumLifetimeMs: options.limits.maximumLifetimeMs,
      defaultTimeoutMs: options.limits.statementTimeoutMs,
      description: options.description,
      open: () => options.open(onLost),
      budget: options.budget,
    });
    this.#release = (connection) => this.#pool.release(connection);
  }

  query(statement: Statement, options?: CallOptions): Promise<Rows> {
    const deadlineAt = this.#pool.deadlineOf(options);
    const isAborted = options?.signal?.aborted === true;
    const following = isAborted ? undefined : this.#follow(statement, deadlineAt, options?.pipeline);
    if (following !== undefined) return following;
    const idle = isAborted ? undefined : this.#pool.take();
    if (idle === undefined) return this.#queryLater(statement, deadlineAt, options);
    return this.#run(idle, statement, deadlineAt, options?.pipeline);
  }

  async acquire(options?: CallOptions): Promise<ShardSession> {
    const connection = await this.#pool.acquire(this.#pool.deadlineOf(options), options?.signal);
    return new PooledSession(connection, this.#pool);
  }

  stats(): PoolStats {
    return this.#pool.stats();
  }

  close(graceMs?: number): Promise<void> {
    this.#closing ??= this.#pool.close(graceMs).then(this.#closed);
    return this.#closing;
  }

  #follow(statement: Statement, deadlineAt: number, pipeline: object | undefined): Promise<Rows> | undefined {
    if (pipeline === undefined) return undefined;
    const release = this.#release;
    return this.#pipelines.get(pipeline)?.follow?.(statement, { deadlineAt, release });
  }

  #run(connection: C, statement: Statement, deadlineAt: number, pipeline: object | undefined): Promise<Rows> {
    if (pipeline !== undefined) this.#pipelines.set(pipeline, connection);
    this.#pool.watch();
    return connection.run(statement, { deadlineAt, release: this.#release });
  }

  async #queryLater(
    statement: Statement,
    deadlineAt: number,
    options: CallOptions | undefined,
  ): Promise<Rows> {
    // Who waits for too long is told in time to come again, instead of being left with no answer at the deadline.
    const grantedBy = Math.min(deadlineAt, performance.now() + this.#connectionWaitMs);
    const connection = await this.#pool.acquire(grantedBy, options?.signal);
    return this.#run(connection, statement, deadlineAt, options?.pipeline);
  }
}
