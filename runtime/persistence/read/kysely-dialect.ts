import { type CompiledQuery, type DatabaseConnection, Kysely, type QueryResult } from 'kysely';
import { WriteInPerformError } from '../../errors.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { INTERNAL_ACCESS } from '../../sharding/internal-access.js';
import {
  ShardDialect,
  SingleConnectionDriver,
  toQueryResult,
  toStatement,
} from '../../sharding/kysely-session.js';
import { publicError } from '../../sharding/public-error.js';
import type { CallOptions, ShardDatabase } from '../../sharding/shard-database.js';
import { readInIsolation } from '../../sharding/transaction-manager.js';

/** SQLSTATE `read_only_sql_transaction`. */
const READ_ONLY_TRANSACTION = '25006';

const INSTEAD = 'stage changes with plan().add and plan().update, and protect rows with plan().expect(...)';

/**
 * A read-only Kysely: each query runs in a read-only transaction, in which the database refuses writes and row locks. A
 * query that is no SELECT is refused before it is sent.
 *
 * Its queries throw WriteInPerformError for everything except a SELECT without row locks, and for transactions. A
 * failure of the database is a public error, such as ShardUnavailableError.
 *
 * @param timeoutMs time limit of each query. Default: the data source's statement time-out
 */
export function readOnlyKysely<Tables>(database: ShardDatabase, timeoutMs?: number): Kysely<Tables> {
  const refuse = (): Promise<void> =>
    Promise.reject(new WriteInPerformError('Transactions are not available here: reads run one by one'));
  const limits: CallOptions = {
    access: INTERNAL_ACCESS,
    ...(timeoutMs !== undefined && { timeoutMs: Math.max(timeoutMs, 0) }),
  };
  const connection = new ReadingConnection(database, limits);
  const driver = new SingleConnectionDriver(connection, { begin: refuse, commit: refuse, rollback: refuse });
  return new Kysely<Tables>({ dialect: new ShardDialect(driver) });
}

class ReadingConnection implements DatabaseConnection {
  readonly #database: ShardDatabase;
  readonly #limits: CallOptions;

  constructor(database: ShardDatabase, limits: CallOptions) {
    this.#database = database;
    this.#limits = limits;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { kind } = query.query;
    if (kind !== 'SelectQueryNode' && kind !== 'RawNode') {
      throw new WriteInPerformError(
        `Only SELECT is available here, got ${kind.replace(/Node$/, '')}: ${INSTEAD}`,
      );
    }
    try {
      return toQueryResult<R>(await readInIsolation(this.#database, toStatement(query), this.#limits));
    } catch (error) {
      throw error instanceof DriverFailure ? this.#explained(error) : error;
    }
  }

  // biome-ignore lint/correctness/useYield: the method only throws.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new WriteInPerformError('Streaming is not available here: page by a key instead');
  }

  #explained(failure: DriverFailure): Error {
    if (failure.sqlState === READ_ONLY_TRANSACTION) {
      const text = `The database refused a write or a row lock (${failure.message}): ${INSTEAD}`;
      return new WriteInPerformError(text, { cause: failure });
    }
    return publicError(failure, this.#database.shard);
  }
}
