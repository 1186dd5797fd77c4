/** What the command line runs against databases. Loaded only by commands that need it. */
import type { ShardingTopology } from './config/types.js';
import { openDatabases, pgliteAdapter } from './databases.js';
import type { Migration } from './migration/migration.js';
import {
  type ChangePermissions,
  type PlannedChanges,
  planChanges,
  type WantedTable,
} from './migration/plan-changes.js';
import { replayMigrations } from './migration/replay.js';
import type { DatabaseRegistry } from './sharding/database-registry.js';

export { type ExaminedTable, examine } from './doctor/examine.js';
export type { Finding, FindingLevel } from './doctor/finding.js';
export { describeDifference } from './migration/check-schema.js';
export { type MigrationStep, migrateShards } from './migration/migrate.js';
export { migrationStatus, type ShardMigrationStatus } from './migration/migration-status.js';
export { findDrift, type ShardDrift } from './migration/shard-drift.js';

/** Opens the databases of a topology, does something with them and closes them again. */
export async function withDatabases<T>(
  topology: ShardingTopology,
  warn: (message: string) => void,
  work: (databases: DatabaseRegistry) => Promise<T>,
): Promise<T> {
  const databases = openDatabases(topology, { warn });
  try {
    return await work(databases);
  } finally {
    await databases.close(0);
  }
}

/** What leads from the schema that the migrations make to the tables that the models want. */
export async function planNextMigration(
  migrations: readonly Migration[],
  wanted: readonly WantedTable[],
  permissions: ChangePermissions,
  quote: (name: string) => string,
): Promise<PlannedChanges> {
  return planChanges(wanted, await replayMigrations(pgliteAdapter, migrations), permissions, quote);
}
