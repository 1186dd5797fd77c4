import { type CompiledQuery, type DatabaseConnection, Kysely, type QueryResult } from 'kysely';
import { WriteInPerformError } from '../errors.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import {
  ShardDialect,
  SingleConnectionDriver,
  toQueryResult,
  toStatement,
} from '../sharding/kysely-session.js';
import { publicError } from '../sharding/public-error.js';
import type { CallOptions, ShardDatabase } from '../sharding/shard-database.js';
import { readInIsolation } from '../sharding/transaction-manager.js';
import { checkReadOnly } from './read-only-check.js';

/** SQLSTATE `read_only_sql_transaction`. */
const READ_ONLY_TRANSACTION = '25006';

/**
 * A Kysely for reading. The syntax tree of every query is looked at before it is sent; a query whose text or functions
 * the tree does not explain runs in a read-only transaction, so that the database refuses what we cannot see.
 *
 * Its queries throw WriteInPerformError for everything but a SELECT without row locks, and for transactions. A failure of
 * the database is a public error, such as ShardUnavailableError.
 *
 * @param timeoutMs most time for each query. Default: the data source's statement time-out
 */
export function readOnlyKysely<Tables>(database: ShardDatabase, timeoutMs?: number): Kysely<Tables> {
  const refuse = (): Promise<void> =>
    Promise.reject(new WriteInPerformError('Transactions are not available here: reads run one by one'));
  const limits = timeoutMs === undefined ? {} : { timeoutMs: Math.max(timeoutMs, 0) };
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
    const opaque = checkReadOnly(query.query) === 'opaque';
    const statement = toStatement(query);
    try {
      const rows = opaque
        ? readInIsolation(this.#database, statement, this.#limits)
        : this.#database.query(statement, this.#limits);
      return toQueryResult<R>(await rows);
    } catch (error) {
      throw error instanceof DriverFailure ? this.#explained(error, opaque) : error;
    }
  }

  // biome-ignore lint/correctness/useYield: there is nothing to yield.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new WriteInPerformError('Streaming is not available here: page by a key instead');
  }

  #explained(failure: DriverFailure, opaque: boolean): Error {
    if (opaque && failure.sqlState === READ_ONLY_TRANSACTION)
      return new WriteInPerformError(`The database refused a write: ${failure.message}`, { cause: failure });
    return publicError(failure, this.#database.shard);
  }
}
