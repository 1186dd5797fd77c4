import type { ShardDatabase } from './shard-database.js';

/** A view of a database in which some calls are replaced. All others go to the database, except `listen`. */
export function forwarding(
  database: ShardDatabase,
  calls: Partial<Pick<ShardDatabase, 'query' | 'acquire' | 'close'>>,
): ShardDatabase {
  return {
    shard: database.shard,
    kind: database.kind,
    description: database.description,
    sessionState: database.sessionState,
    query: (statement, options) => database.query(statement, options),
    acquire: (options) => database.acquire(options),
    stats: () => database.stats(),
    close: (graceMs) => database.close(graceMs),
    ...calls,
  };
}
