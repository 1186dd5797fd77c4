import type { ShardingTopology } from '../../config/types.js';
import { postgresAdapter } from '../../databases.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import type { DatabaseAdapter } from '../../sharding/database-adapter.js';
import { DatabaseRegistry } from '../../sharding/database-registry.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { interceptedDatabase } from './intercepted-databases.js';

/** Databases of one process, of which one shard is unreachable while `down` returns true. */
export function databasesWithout(
  topology: ShardingTopology,
  shard: ShardIdentifier,
  down: () => boolean,
): DatabaseRegistry {
  const adapter: DatabaseAdapter = {
    kind: 'postgresql',
    open: (each, source, options) => {
      const database = postgresAdapter.open(each, source, options);
      return each === shard
        ? interceptedDatabase(database, (call) => (down() ? Promise.reject(unreachable()) : call()))
        : database;
    },
  };
  return new DatabaseRegistry(topology, { adapters: [adapter], warn: () => {} });
}

function unreachable(): DriverFailure {
  return new DriverFailure('connect ECONNREFUSED', { phase: 'not-sent', reason: 'unreachable' });
}
