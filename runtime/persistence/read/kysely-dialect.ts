import {
  type CompiledQuery,
  type DatabaseConnection,
  Kysely,
  PostgresQueryCompiler,
  type QueryId,
  type QueryResult,
  type RootOperationNode,
} from 'kysely';
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
import { checkReadOnly } from './read-only-check.js';

/** SQLSTATE `read_only_sql_transaction`. */
const READ_ONLY_TRANSACTION = '25006';

/**
 * A read-only Kysely. It checks the syntax tree of every query before sending it. A query with raw SQL or unknown
 * functions runs in a read-only transaction, so that the database refuses writes that the tree does not show.
 *
 * Its queries throw WriteInPerformError for everything except a SELECT without row locks, and for transactions. A
 * failure of the database is a public error, such as ShardUnavailableError.
 *
 * @param timeoutMs time limit of each query. Default: the data source's statement time-out
 */
export function readOnlyKysely<Tables>(database: ShardDatabase, timeoutMs?: number): Kysely<Tables> {
  const refuse = (): Promise<void> =>
    Promise.reject(new WriteInPerformError('Transactions are not available here: reads run one by one'));
  const compiler = new RememberingCompiler();
  const limits: CallOptions = {
    access: INTERNAL_ACCESS,
    ...(timeoutMs !== undefined && { timeoutMs: Math.max(timeoutMs, 0) }),
  };
  const connection = new ReadingConnection(database, limits, compiler);
  const driver = new SingleConnectionDriver(connection, { begin: refuse, commit: refuse, rollback: refuse });
  return new Kysely<Tables>({ dialect: new ShardDialect(driver, { compiler }) });
}

/**
 * Remembers the text that it compiled from each syntax tree: a compiled query is plain data, whose text a caller can
 * replace.
 */
class RememberingCompiler extends PostgresQueryCompiler {
  readonly #texts = new WeakMap<RootOperationNode, string>();

  override compileQuery(node: RootOperationNode, queryId: QueryId): CompiledQuery {
    const compiled = super.compileQuery(node, queryId);
    this.#texts.set(node, compiled.sql);
    return compiled;
  }

  isTrue({ query, sql }: CompiledQuery): boolean {
    return this.#texts.get(query) === sql;
  }
}

class ReadingConnection implements DatabaseConnection {
  readonly #database: ShardDatabase;
  readonly #limits: CallOptions;
  readonly #compiled: RememberingCompiler;

  constructor(database: ShardDatabase, limits: CallOptions, compiled: RememberingCompiler) {
    this.#database = database;
    this.#limits = limits;
    this.#compiled = compiled;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const opaque = checkReadOnly(query.query) === 'opaque' || !this.#compiled.isTrue(query);
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

  // biome-ignore lint/correctness/useYield: the method only throws.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new WriteInPerformError('Streaming is not available here: page by a key instead');
  }

  #explained(failure: DriverFailure, opaque: boolean): Error {
    if (opaque && failure.sqlState === READ_ONLY_TRANSACTION)
      return new WriteInPerformError(`The database refused a write: ${failure.message}`, { cause: failure });
    return publicError(failure, this.#database.shard);
  }
}
