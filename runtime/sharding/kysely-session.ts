import {
  type CompiledQuery,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import type { Rows, Statement } from './shard-database.js';

/** What a Kysely of this package does beside running queries. */
export interface KyselyParts {
  readonly begin: () => Promise<void>;
  readonly commit: () => Promise<void>;
  readonly rollback: () => Promise<void>;
  /** The error of streams, which no driver of this package supports. */
  readonly streamRefusal: () => Error;
}

/** A Kysely for PostgreSQL that runs all its queries through one function, such as that of a held session. */
export function kyselyOver<Tables>(
  run: (query: CompiledQuery) => Promise<Rows>,
  { begin, commit, rollback, streamRefusal }: KyselyParts,
): Kysely<Tables> {
  const nothing = (): Promise<void> => Promise.resolve();
  const connection = {
    executeQuery: async <R>(query: CompiledQuery) => toQueryResult<R>(await run(query)),
    streamQuery: (): never => {
      throw streamRefusal();
    },
  };
  const driver = {
    init: nothing,
    acquireConnection: () => Promise.resolve(connection),
    beginTransaction: begin,
    commitTransaction: commit,
    rollbackTransaction: rollback,
    releaseConnection: nothing,
    destroy: nothing,
  };
  return new Kysely<Tables>({
    dialect: {
      createDriver: () => driver,
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createAdapter: () => new PostgresAdapter(),
      createIntrospector: (db) => new PostgresIntrospector(db),
    },
  });
}

export function toStatement(query: CompiledQuery): Statement {
  return { text: query.sql, values: query.parameters.map((value) => value ?? null) };
}

function toQueryResult<R>(result: Rows): QueryResult<R> {
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
