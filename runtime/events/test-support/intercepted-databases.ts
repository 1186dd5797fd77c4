import { topologyOf } from '../../../test/databases/topology.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { DatabaseRegistry } from '../../sharding/database-registry.js';
import type { Rows, ShardDatabase, ShardSession } from '../../sharding/shard-database.js';

/** Runs, delays or fails a statement. */
export type Intercept = (call: () => Promise<Rows>, text: string) => Promise<Rows>;

/**
 * The databases of another process, whose statements a test intercepts. Works on either adapter: uses the databases of
 * `healthy`, which stay open when these are closed.
 */
export function interceptedDatabases(healthy: DatabaseRegistry, intercept: Intercept): DatabaseRegistry {
  const topology = topologyOf(healthy.shards().map((shard) => [shard, healthy.memberConfig(shard).primary]));
  const adapter = (kind: 'postgresql' | 'pglite') => ({
    kind,
    open: (shard: ShardIdentifier) => {
      const database = interceptedDatabase(healthy.database(shard), intercept);
      return { ...database, close: () => Promise.resolve() };
    },
  });
  return new DatabaseRegistry(topology, {
    adapters: [adapter('postgresql'), adapter('pglite')],
    warn: () => {},
  });
}

/** A database whose statements are intercepted. Its sessions are not used again. */
export function interceptedDatabase(database: ShardDatabase, intercept: Intercept): ShardDatabase {
  return {
    shard: database.shard,
    kind: database.kind,
    description: database.description,
    sessionState: database.sessionState,
    query: (statement, options) => intercept(() => database.query(statement, options), statement.text),
    acquire: async (options) => interceptedSession(await database.acquire(options), intercept),
    stats: () => database.stats(),
    close: (graceMs) => database.close(graceMs),
  };
}

function interceptedSession(session: ShardSession, intercept: Intercept): ShardSession {
  return {
    query: (statement, options) => intercept(() => session.query(statement, options), statement.text),
    script: (sql, options) => session.script(sql, options),
    release: () => session.destroy(),
    destroy: () => session.destroy(),
  };
}
