import { type DataSourceInput, ShardingConfig } from '../config/sharding-config.js';
import type { DatabaseAdapter } from '../sharding/database-adapter.js';
import { DatabaseRegistry } from '../sharding/database-registry.js';
import { migrate } from './migrate.js';
import type { Migration } from './migration.js';
import { type SchemaSnapshot, snapshotSchema } from './schema-snapshot.js';

const DATABASE: DataSourceInput = {
  jdbcUrl: 'jdbc:pglite:mem:fw-gen-replay',
  connectTimeoutMs: 60_000,
  lockTimeoutMs: 10_000,
  statementTimeoutMs: 60_000,
};
const TOPOLOGY = ShardingConfig.of({
  defaultShard: { group: 0, member: 0 },
  groups: [
    {
      group: 0,
      name: 'replay',
      members: [{ member: 0, name: 'replay', configs: { primaryConfig: DATABASE } }],
    },
  ],
});

/** An empty in-memory database on which migrations run, to find out their resulting schema. */
export interface Replay {
  /**
   * Runs those of these migrations that have not run yet. @returns the resulting schema
   *
   * @throws MigrationError naming the migration that fails
   */
  run(migrations: readonly Migration[]): Promise<SchemaSnapshot>;
}

/**
 * Opens an embedded in-memory database during `work`. Running the migrations gives the exact schema, without a snapshot
 * file that must be kept in step.
 *
 * @param embedded the adapter of the embedded database
 */
export async function withReplay<T>(
  embedded: DatabaseAdapter,
  work: (replay: Replay) => Promise<T>,
): Promise<T> {
  const databases = new DatabaseRegistry(TOPOLOGY, { adapters: [embedded], warn: () => {} });
  try {
    return await work({
      run: async (migrations) => {
        await migrate(databases, { migrations });
        return snapshotSchema(databases.database(TOPOLOGY.defaultShard));
      },
    });
  } finally {
    await databases.close(0);
  }
}
