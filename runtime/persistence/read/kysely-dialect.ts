import type { CompiledQuery, Kysely } from 'kysely';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { WriteInPerformError } from '../../errors.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { INTERNAL_ACCESS } from '../../sharding/internal-access.js';
import { kyselyOver, toStatement } from '../../sharding/kysely-session.js';
import { publicError } from '../../sharding/public-error.js';
import type { ReadSource } from '../../sharding/replica-reads.js';
import type { CallOptions, Rows } from '../../sharding/shard-database.js';
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
export function readOnlyKysely<Tables>(source: ReadSource, timeoutMs?: number): Kysely<Tables> {
  const refuse = (): Promise<void> =>
    Promise.reject(new WriteInPerformError('Transactions are not available here: reads run one by one'));
  const limits: CallOptions = {
    access: INTERNAL_ACCESS,
    ...(timeoutMs !== undefined && { timeoutMs: Math.max(timeoutMs, 0) }),
  };
  const run = async (query: CompiledQuery): Promise<Rows> => {
    requireSelect(query);
    const statement = toStatement(query);
    try {
      return await source.read((database) => readInIsolation(database, statement, limits), limits);
    } catch (error) {
      throw error instanceof DriverFailure ? explained(error, source.shard) : error;
    }
  };
  return kyselyOver<Tables>(run, {
    ...{ begin: refuse, commit: refuse, rollback: refuse },
    streamRefusal: () => new WriteInPerformError('Streaming is not available here: page by a key instead'),
  });
}

/** @throws WriteInPerformError */
function requireSelect({ query: { kind } }: CompiledQuery): void {
  if (kind === 'SelectQueryNode' || kind === 'RawNode') return;
  throw new WriteInPerformError(
    `Only SELECT is available here, got ${kind.replace(/Node$/, '')}: ${INSTEAD}`,
  );
}

function explained(failure: DriverFailure, shard: ShardIdentifier): Error {
  if (failure.sqlState !== READ_ONLY_TRANSACTION) return publicError(failure, shard);
  const text = `The database refused a write or a row lock (${failure.message}): ${INSTEAD}`;
  return new WriteInPerformError(text, { cause: failure });
}
