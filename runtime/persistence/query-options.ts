import type { ReplicaRead } from '../sharding/replica-reads.js';
import type { ShardDatabase } from '../sharding/shard-database.js';

/** How a query may be answered. */
export interface QueryOptions {
  /** Most time for each statement, in milliseconds. Default: the data source's statement time-out; for lists 1,800. */
  readonly timeoutMs?: number | undefined;
  /** Lets replicas answer. Default: the primary answers. Inside `perform` it always does. */
  readonly replica?: ReplicaRead | undefined;
}

/** The same database with another default time-out. */
export function withTimeout(database: ShardDatabase, timeoutMs: number | undefined): ShardDatabase {
  if (timeoutMs === undefined) return database;
  const limits = { timeoutMs: Math.max(timeoutMs, 0) };
  return {
    shard: database.shard,
    kind: database.kind,
    description: database.description,
    sessionState: database.sessionState,
    query: (statement, options) => database.query(statement, { ...limits, ...options }),
    acquire: (options) => database.acquire({ ...limits, ...options }),
    stats: () => database.stats(),
    close: (graceMs) => database.close(graceMs),
  };
}
