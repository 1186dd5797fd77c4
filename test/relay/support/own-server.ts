import type { ShardingTopology } from '../../../runtime/config/types.js';
import { postgresAdapter } from '../../../runtime/databases.js';
import { ledgerMigrations } from '../../../runtime/events/test-support/ledger.js';
import { HERE } from '../../../runtime/execution/test-support/accounts.js';
import { migrate } from '../../../runtime/migration/migrate.js';
import { DatabaseRegistry } from '../../../runtime/sharding/database-registry.js';
import type { ShardDatabase } from '../../../runtime/sharding/shard-database.js';
import { type PostgresServer, startPostgres } from '../../databases/server.js';
import { serverUrl, testDataSource, topologyOf } from '../../databases/topology.js';

/** One shard on a server that a proof may restart. */
export interface OwnShard {
  readonly server: PostgresServer;
  readonly topology: ShardingTopology;
  readonly database: ShardDatabase;
  destroy(): Promise<void>;
}

export async function startOwnShard(): Promise<OwnShard> {
  const server = await startPostgres();
  const source = testDataSource(serverUrl(server, server.database), server);
  const topology = topologyOf([[HERE, source]]);
  const databases = new DatabaseRegistry(topology, { adapters: [postgresAdapter], warn: () => {} });
  const destroy = async (): Promise<void> => {
    await databases.close(0);
    await server.destroy();
  };
  try {
    await migrate(databases, { migrations: ledgerMigrations });
  } catch (error) {
    await destroy();
    throw error;
  }
  return { server, topology, database: databases.database(HERE), destroy };
}
