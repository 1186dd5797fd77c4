import { time } from '../concurrency/time.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { ConnectionPool } from './connection-pool.js';
import { Pipeline } from './pipeline.js';
import type { ConnectionPoolOptions, RunnableConnection, RunOptions } from './pooled-connection.js';
import { PooledSession } from './pooled-session.js';
import type {
  CallOptions,
  PoolStats,
  Rows,
  ShardDatabase,
  ShardSession,
  Statement,
} from './shard-database.js';

export interface PooledDatabaseOptions<C> extends ConnectionPoolOptions<C> {
  readonly shard: ShardIdentifier;
  readonly kind: ShardDatabase['kind'];
  /** Maximum wait of a single statement for a connection, in milliseconds. Default: its deadline. */
  readonly connectionWaitMs?: number;
  /** Whether a session keeps its state between transactions. Default true. */
  readonly sessionState?: boolean;
  /** Called after the last connection was closed. */
  readonly closed?: () => Promise<void>;
}

/** A connection for exclusive use. */
export interface ReservedConnection<C> {
  readonly connection: C;
  /** Closes it and frees its slot. */
  close(): Promise<void>;
}

/** The common part of both adapters' databases: a connection pool for sessions and single statements. */
export class PooledDatabase<C extends RunnableConnection<C>> implements ShardDatabase {
  readonly shard: ShardIdentifier;
  readonly kind: ShardDatabase['kind'];
  readonly description: string;
  readonly sessionState: boolean;
  readonly #pool: ConnectionPool<C>;
  readonly #release: (connection: C) => void;
  readonly #closed: () => Promise<void>;
  readonly #pipelines = new WeakMap<object, Pipeline<C>>();
  readonly #connectionWaitMs: number;
  #closing: Promise<void> | undefined;

  constructor(options: PooledDatabaseOptions<C>) {
    this.shard = options.shard;
    this.kind = options.kind;
    this.description = options.description;
    this.sessionState = options.sessionState ?? true;
    this.#closed = options.closed ?? (() => Promise.resolve());
    this.#connectionWaitMs = options.connectionWaitMs ?? Number.POSITIVE_INFINITY;
    this.#pool = new ConnectionPool(options);
    this.#release = (connection) => this.#pool.release(connection);
  }

  query(statement: Statement, options?: CallOptions): Promise<Rows> {
    const deadlineAt = this.#pool.deadlineOf(options);
    const isAborted = options?.signal?.aborted === true;
    const pipeline = this.#pipelineOf(options);
    const run = { deadlineAt, release: this.#release, pipeline, onCommit: pipeline?.timer() };
    const following = isAborted ? undefined : this.#follow(statement, run, pipeline?.last);
    if (following !== undefined) return following;
    const idle = isAborted ? undefined : this.#pool.take();
    if (idle === undefined) return this.#queryLater(statement, run, options);
    return this.#run(idle, statement, run, pipeline);
  }

  async acquire(options?: CallOptions): Promise<ShardSession> {
    const connection = await this.#pool.acquire(this.#pool.deadlineOf(options), options);
    return new PooledSession(connection, this.#pool);
  }

  /**
   * Reserves a connection for exclusive use. It counts against the pool's maximum until it is closed.
   *
   * @param waitMs maximum wait for other callers
   * @throws DriverFailure if there is no connection, or no spare one
   */
  protected async reserve(waitMs: number): Promise<ReservedConnection<C>> {
    const connection = await this.#pool.reserve(time.nowMs() + waitMs);
    return { connection, close: () => this.#pool.closeReserved(connection) };
  }

  stats(): PoolStats {
    return this.#pool.stats();
  }

  close(graceMs?: number): Promise<void> {
    this.#closing ??= this.#pool.close(graceMs).then(this.#closed);
    return this.#closing;
  }

  #follow(statement: Statement, run: RunOptions<C>, last: C | undefined): Promise<Rows> | undefined {
    if (last?.follow === undefined || !this.#pool.mayKeep(last)) return undefined;
    return last.follow(statement, run);
  }

  #pipelineOf(options: CallOptions | undefined): Pipeline<C> | undefined {
    if (options?.pipeline === undefined) return undefined;
    let pipeline = this.#pipelines.get(options.pipeline);
    if (pipeline === undefined) {
      pipeline = new Pipeline();
      this.#pipelines.set(options.pipeline, pipeline);
    }
    return pipeline;
  }

  #run(
    connection: C,
    statement: Statement,
    run: RunOptions<C>,
    pipeline: Pipeline<C> | undefined,
  ): Promise<Rows> {
    if (pipeline !== undefined) pipeline.connection = connection;
    this.#pool.watch();
    return connection.run(statement, run);
  }

  async #queryLater(
    statement: Statement,
    run: RunOptions<C>,
    options: CallOptions | undefined,
  ): Promise<Rows> {
    // A caller that waits too long gets a retryable error early, instead of no answer at its deadline.
    const connection = await this.#pool.acquire(run.deadlineAt, options, this.#connectionWaitMs);
    return this.#run(connection, statement, run, this.#pipelineOf(options));
  }
}
