import type { ConnectionPool } from './connection-pool.js';
import { DriverFailure } from './driver-failure.js';
import type { RunnableConnection, RunOptions } from './pooled-connection.js';
import type { CallOptions, Rows, ShardSession, Statement } from './shard-database.js';

/** A connection held by one caller. Concurrent calls run one after the other. */
export class PooledSession<C extends RunnableConnection<C>> implements ShardSession {
  readonly #pool: ConnectionPool<C>;
  #connection: C | undefined;
  /** Settles when the last call has settled; never rejects. */
  #last: Promise<unknown> | undefined;

  constructor(connection: C, pool: ConnectionPool<C>) {
    this.#connection = connection;
    this.#pool = pool;
  }

  query(statement: Statement, options?: CallOptions): Promise<Rows> {
    return this.#inTurn(options, (connection, run) => connection.run(statement, run));
  }

  async script(sql: string, options?: CallOptions): Promise<void> {
    await this.#inTurn(options, (connection, run) => connection.script(sql, run));
  }

  release(): void {
    const connection = this.#end();
    if (connection === undefined) return;
    // A call in progress or an open transaction would affect the next caller.
    if (this.#last !== undefined || connection.inTransaction) this.#pool.discard(connection);
    else this.#pool.release(connection);
  }

  destroy(): void {
    const connection = this.#end();
    if (connection !== undefined) this.#pool.discard(connection);
  }

  #end(): C | undefined {
    const connection = this.#connection;
    this.#connection = undefined;
    return connection;
  }

  #inTurn(
    options: CallOptions | undefined,
    call: (connection: C, run: RunOptions<C>) => Promise<Rows>,
  ): Promise<Rows> {
    const deadlineAt = this.#pool.deadlineOf(options);
    const start = (): Promise<Rows> => {
      const connection = this.#connection;
      if (options?.signal?.aborted === true) return Promise.reject(refusal('aborted', options.signal.reason));
      if (connection === undefined) return Promise.reject(refusal('closed'));
      this.#pool.watch();
      return call(connection, { deadlineAt });
    };
    const result = this.#last === undefined ? start() : this.#last.then(start);
    const settled: Promise<unknown> = result.then(
      () => this.#settled(settled),
      () => this.#settled(settled),
    );
    this.#last = settled;
    return result;
  }

  #settled(call: Promise<unknown>): void {
    if (this.#last === call) this.#last = undefined;
  }
}

function refusal(reason: 'aborted' | 'closed', cause?: unknown): DriverFailure {
  const message = reason === 'closed' ? 'The session was released' : 'Aborted before the statement was sent';
  return new DriverFailure(message, { phase: 'not-sent', reason, cause });
}
