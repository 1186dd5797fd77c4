import type { Kysely } from 'kysely';
import { time } from '../concurrency/time.js';
import { DatabaseError } from '../errors.js';
import { DriverFailure } from './driver-failure.js';
import { kyselyOver, toStatement } from './kysely-session.js';
import type { CallOptions, Rows, ShardDatabase, ShardSession, Statement } from './shard-database.js';

/** Options of a transaction. */
export interface TransactionOptions {
  /** Default: the server's (`read committed` unless configured otherwise). */
  readonly isolationLevel?: 'read committed' | 'repeatable read' | 'serializable';
  /** Whether the database refuses every write. Default false. */
  readonly readOnly?: boolean;
  /**
   * Time limit for getting a connection, and for each statement, in milliseconds. Default: the data source's statement
   * time-out.
   */
  readonly timeoutMs?: number;
  /** Honoured until the transaction has begun. */
  readonly signal?: AbortSignal;
}

/** The transaction's connection, usable until `work` is done. */
export interface Transaction {
  query(statement: Statement, options?: CallOptions): Promise<Rows>;
  /** A Kysely whose queries, including writes, run in this transaction. It cannot begin another one. */
  kysely<Tables>(): Kysely<Tables>;
}

/** Runs transactions on one shard. */
export class TransactionManager {
  readonly #database: ShardDatabase;

  constructor(database: ShardDatabase) {
    this.#database = database;
  }

  /**
   * Runs `work` in one transaction and commits it. If `work` throws, the transaction is rolled back and that error
   * is thrown.
   *
   * @throws DatabaseError if the server rolled back instead of committing, because `work` swallowed an error
   * @throws DriverFailure with phase `in-flight` if the connection was lost during the commit: it may be committed
   */
  async transaction<T>(
    work: (transaction: Transaction) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    const session = await this.#database.acquire(options);
    try {
      const result = await this.#commit(session, work, options);
      session.release();
      return result;
    } catch (error) {
      await rollBack(session, error);
      throw error;
    }
  }

  async #commit<T>(
    session: ShardSession,
    work: (transaction: Transaction) => Promise<T>,
    options: TransactionOptions,
  ): Promise<T> {
    const call: CallOptions = options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs };
    const { signal } = options;
    await session.query(command(begin(options)), signal === undefined ? call : { ...call, signal });
    const scope = new TransactionScope(session, call);
    const result = await work(scope).finally(() => scope.end());
    const { command: tag } = await session.query(command('COMMIT'), call);
    if (tag !== 'COMMIT') {
      throw new DatabaseError(
        `The transaction was rolled back (the server answered COMMIT with ${tag}): a statement in it failed, and the ` +
          'error was swallowed. Rethrow it, or use a savepoint.',
        {},
      );
    }
    return result;
  }
}

/** Refuses statements after the transaction's end, which would run outside of it. */
class TransactionScope implements Transaction {
  readonly #session: ShardSession;
  readonly #call: CallOptions;
  #ended = false;

  constructor(session: ShardSession, call: CallOptions) {
    this.#session = session;
    this.#call = call;
  }

  query(statement: Statement, options?: CallOptions): Promise<Rows> {
    if (this.#ended) return Promise.reject(new DatabaseError('The transaction has ended', {}));
    return this.#session.query(statement, { ...this.#call, ...options });
  }

  kysely<Tables>(): Kysely<Tables> {
    const refuse = (): Promise<void> =>
      Promise.reject(new DatabaseError('A transaction is open already; its manager ends it', {}));
    return kyselyOver<Tables>((query) => this.query(toStatement(query)), {
      ...{ begin: refuse, commit: refuse, rollback: refuse },
      streamRefusal: () => new DatabaseError('Streaming is not supported: page by a key instead', {}),
    });
  }

  end(): void {
    this.#ended = true;
  }
}

/**
 * Runs one statement in a read-only transaction that is rolled back, so that no setting of the statement outlives it.
 * The limits apply to the whole transaction.
 */
export async function readInIsolation(
  database: ShardDatabase,
  statement: Statement,
  limits: CallOptions = {},
): Promise<Rows> {
  const rest = countDown(limits);
  const session = await database.acquire(limits);
  try {
    await session.query(command('BEGIN READ ONLY'), rest());
    const rows = await session.query(statement, rest());
    await rollBack(session);
    return rows;
  } catch (error) {
    await rollBack(session, error);
    throw error;
  }
}

/** Returns a function that gives the remaining limits. */
function countDown(limits: CallOptions): () => CallOptions {
  const { timeoutMs } = limits;
  if (timeoutMs === undefined) return () => limits;
  const deadline = time.nowMs() + timeoutMs;
  return () => ({ ...limits, timeoutMs: Math.max(0, deadline - time.nowMs()) });
}

/** Ends a failed transaction. A failure of the rollback must not hide the original error. */
async function rollBack(session: ShardSession, error?: unknown): Promise<void> {
  if (error instanceof DriverFailure && error.phase === 'in-flight') {
    session.destroy();
    return;
  }
  try {
    await session.query(command('ROLLBACK'));
    session.release();
  } catch {
    session.destroy();
  }
}

function begin(options: TransactionOptions): string {
  const isolation =
    options.isolationLevel === undefined ? '' : ` ISOLATION LEVEL ${options.isolationLevel.toUpperCase()}`;
  return `BEGIN${isolation}${options.readOnly === true ? ' READ ONLY' : ''}`;
}

function command(text: string): Statement {
  return { text, values: [] };
}
