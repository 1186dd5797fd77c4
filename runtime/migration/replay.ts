import type { MemberConfig } from '../config/types.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import type { DatabaseAdapter } from '../sharding/database-adapter.js';
import { DatabaseRegistry } from '../sharding/database-registry.js';
import { migrate } from './migrate.js';
import type { Migration } from './migration.js';
import { type SchemaSnapshot, snapshotSchema } from './schema-snapshot.js';

const SHARD = ShardIdentifier.of(0, 0);

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
  const group = { group: 0, name: 'replay', members: [MEMBER] };
  const topology = { defaultShard: SHARD, groups: [group] };
  const databases = new DatabaseRegistry(topology, { adapters: [embedded], warn: () => {} });
  try {
    return await work({
      run: async (migrations) => {
        await migrate(databases, { migrations });
        return snapshotSchema(databases.database(SHARD));
      },
    });
  } finally {
    await databases.close(0);
  }
}

const MEMBER: MemberConfig = {
  shard: SHARD,
  name: 'replay',
  primary: {
    url: { kind: 'pglite', storage: 'mem', location: 'fw-gen-replay' },
    username: undefined,
    password: undefined,
    maximumPoolSize: 1,
    connectTimeoutMs: 60_000,
    lockTimeoutMs: 10_000,
    statementTimeoutMs: 60_000,
    applicationName: 'fw-gen',
    allowUnsafe: [],
    pooler: 'none',
  },
  secondary: undefined,
  others: {},
};
