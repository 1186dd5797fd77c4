import {
  type CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryCompiler,
  type QueryResult,
} from 'kysely';
import { DatabaseError } from '../errors.js';
import { toStatementValue } from './kysely-values.js';
import type { Rows, Statement } from './shard-database.js';

/** Sends one statement that Kysely has compiled. */
export type Send = (statement: Statement) => Promise<Rows>;

/** The transaction methods in which drivers of this dialect differ. */
export interface TransactionControl {
  begin(): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** A Kysely dialect for PostgreSQL that sends statements through the given driver. */
export class ShardDialect implements Dialect {
  readonly #driver: Driver;

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  createDriver(): Driver {
    return this.#driver;
  }

  createQueryCompiler(): QueryCompiler {
    return new PostgresQueryCompiler();
  }

  createAdapter(): DialectAdapter {
    return new PostgresAdapter();
  }

  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new PostgresIntrospector(db);
  }
}

/** A driver that sends all statements through one function, such as that of a held session. */
export class SingleConnectionDriver implements Driver {
  readonly #connection: DatabaseConnection;
  readonly #transactions: TransactionControl;

  constructor(connection: DatabaseConnection, transactions: TransactionControl) {
    this.#connection = connection;
    this.#transactions = transactions;
  }

  init(): Promise<void> {
    return Promise.resolve();
  }

  acquireConnection(): Promise<DatabaseConnection> {
    return Promise.resolve(this.#connection);
  }

  beginTransaction(): Promise<void> {
    return this.#transactions.begin();
  }

  commitTransaction(): Promise<void> {
    return this.#transactions.commit();
  }

  rollbackTransaction(): Promise<void> {
    return this.#transactions.rollback();
  }

  releaseConnection(): Promise<void> {
    return Promise.resolve();
  }

  destroy(): Promise<void> {
    return Promise.resolve();
  }
}

/** Rows as objects by column name. */
export class SendingConnection implements DatabaseConnection {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return toQueryResult<R>(await this.#send(toStatement(query)));
  }

  // biome-ignore lint/correctness/useYield: the method only throws.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new DatabaseError('Streaming is not supported: page by a key instead', {});
  }
}

/** A driver for a transaction that its caller begins and ends. */
export function driverInTransaction(send: Send): Driver {
  const refuse = (): Promise<void> =>
    Promise.reject(new DatabaseError('A transaction is open already; its manager ends it', {}));
  return new SingleConnectionDriver(new SendingConnection(send), {
    begin: refuse,
    commit: refuse,
    rollback: refuse,
  });
}

export function toStatement(query: CompiledQuery): Statement {
  return { text: query.sql, values: query.parameters.map(toStatementValue) };
}

export function toQueryResult<R>(result: Rows): QueryResult<R> {
  const rows = result.rows.map((row) => toObject(result.columns, row));
  const changed = result.command !== 'SELECT' && result.command !== '';
  return {
    // Kysely's row types are declared by the caller; no driver can check them.
    rows: rows as R[],
    ...(changed && { numAffectedRows: BigInt(result.rowCount) }),
  };
}

function toObject(columns: readonly string[], row: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(columns.map((column, index) => [column, row[index]]));
}
