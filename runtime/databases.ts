import type { ShardingTopology } from './config/types.js';
import type { EmbeddedUse } from './pglite/engine-home.js';
import { requirePglite } from './pglite/load-pglite.js';
import { PgliteDatabase } from './pglite/pglite-database.js';
import { PostgresDatabase } from './postgres/postgres-database.js';
import type { DatabaseAdapter } from './sharding/database-adapter.js';
import { DatabaseRegistry } from './sharding/database-registry.js';

/** PostgreSQL servers, through node-postgres. */
export const postgresAdapter: DatabaseAdapter = {
  kind: 'postgresql',
  open(shard, dataSource, { budget, serverInDoubt }) {
    if (dataSource.url.kind !== 'postgresql') throw new TypeError('Not the URL of a PostgreSQL server');
    return new PostgresDatabase(shard, dataSource.url, dataSource, { budget, serverInDoubt });
  },
};

/** PostgreSQL in this process. Its WebAssembly is loaded when the first such database is used. */
export const pgliteAdapter: DatabaseAdapter = embeddedAdapter('alone');

function embeddedAdapter(use: EmbeddedUse): DatabaseAdapter {
  const said = new Set<string>();
  return {
    kind: 'pglite',
    open(shard, dataSource, { warn, serverInDoubt }) {
      if (dataSource.url.kind !== 'pglite') throw new TypeError('Not the URL of an embedded database');
      const once = (message: string): void => {
        if (!said.has(message)) warn(message);
        said.add(message);
      };
      return new PgliteDatabase(shard, dataSource.url, dataSource, { warn: once, use, serverInDoubt });
    },
  };
}

/** Options of `openDatabases`. */
interface OpenDatabasesOptions {
  /** Called with messages for operators. Default: writes a line to standard error. */
  readonly warn?: (message: string) => void;
  /** See `DatabaseRegistry.guardWith`. */
  readonly guard?: () => void;
  /** Whether this process shares its embedded databases with others. Default `alone`. */
  readonly embedded?: EmbeddedUse;
}

/**
 * A registry of a topology's databases with this package's adapters. Opens no connection yet.
 *
 * @throws PackageMissingError if a database is embedded and `@electric-sql/pglite` is not installed
 */
export function openDatabases(
  topology: ShardingTopology,
  { embedded = 'alone', ...options }: OpenDatabasesOptions = {},
): DatabaseRegistry {
  for (const { shard, primary, secondary } of topology.groups.flatMap(({ members }) => members)) {
    for (const source of [primary, secondary]) {
      if (source?.url.kind !== 'pglite') continue;
      requirePglite(`Shard ${shard} (jdbc:pglite:${source.url.storage}:${source.url.location})`);
    }
  }
  return new DatabaseRegistry(topology, {
    ...options,
    adapters: [postgresAdapter, embeddedAdapter(embedded)],
  });
}
