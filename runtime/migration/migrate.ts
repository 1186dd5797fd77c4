import { time } from '../concurrency/time.js';
import type { MemberConfig } from '../config/types.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { messageOf } from '../errors.js';
import { LARGEST_UNNOTICED_SCAN, makePartitions } from '../retention/make-partitions.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { databaseTime } from '../sharding/database-time.js';
import { onEachShard, SHARDS_AT_ONCE, type ShardOutcome } from '../sharding/each-shard.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { applyMigrations } from './apply-migrations.js';
import { establishIdentity } from './bootstrap.js';
import { isDefaultShardStored } from './default-shard.js';
import { MigratingSession } from './migrating-session.js';
import { type Migration, orMigrationError } from './migration.js';
import { checkServer } from './server-check.js';
import { lockEachTransaction, lockSession, SESSION_SETTINGS } from './session-lock.js';
import { systemMigrations } from './system-migrations.js';

/** What to migrate, and how to report it. */
export interface MigrateOptions {
  /** The application's migrations, in any order; they are applied in the order of their names. */
  readonly migrations: readonly Migration[];
  /** Called for each applied migration. */
  readonly log?: (message: string) => void;
  /**
   * Time limit for one statement, and for the wait for another process's migrations, in milliseconds. Default 600,000.
   */
  readonly timeoutMs?: number;
  /** Maximum shards at a time. Default 8. */
  readonly atOnce?: number;
  /** Called when a shard ends. */
  readonly progress?: (step: MigrationStep) => void;
}

/** How the migration of one shard has ended. */
export interface MigrationStep extends ShardMigrationReport {
  /** Why it failed; undefined if it succeeded. */
  readonly error?: unknown;
  readonly elapsedMs: number;
}

/** The result of `migrate`. */
export interface MigrationReport {
  readonly shards: readonly ShardMigrationReport[];
}

/** The result on one shard. */
interface ShardMigrationReport {
  readonly shard: ShardIdentifier;
  /**
   * Names of the migrations that were applied now, this package's own first, also of those before a failure; empty if
   * none was missing.
   */
  readonly applied: readonly string[];
}

const DEFAULT_TIMEOUT_MS = 600_000;

/**
 * Applies all missing migrations on every shard: the shard identity, this package's tables, then the application's
 * migrations. Several processes may call it concurrently and repeatedly: a call finishes the work of a failed or killed
 * process. A failed shard does not stop the others.
 *
 * @throws MigrationError naming shard and migration; earlier migrations stay applied
 * @throws ShardIdentityError if a database belongs to another shard, or to a cluster with another default shard
 * @throws UnsafeServerError if a server is too old or may lose acknowledged commits
 */
export async function migrate(
  databases: DatabaseRegistry,
  options: MigrateOptions,
): Promise<MigrationReport> {
  const outcomes = await migrateShards(databases, options);
  for (const outcome of outcomes) if (!outcome.ok) throw outcome.error;
  return { shards: outcomes.flatMap((outcome) => (outcome.ok ? [outcome.value] : [])) };
}

/**
 * As `migrate`, but returns the outcome of every shard instead of throwing. A failed shard does not stop the others.
 */
export function migrateShards(
  databases: DatabaseRegistry,
  options: MigrateOptions,
): Promise<readonly ShardOutcome<ShardMigrationReport>[]> {
  const { progress = () => {}, atOnce = SHARDS_AT_ONCE } = options;
  return onEachShard(databases.shards(), atOnce, async (shard) => {
    const startedAt = time.nowMs();
    const applied: string[] = [];
    const ended = (failure: Pick<MigrationStep, 'error'> = {}): void =>
      progress({ shard, applied, ...failure, elapsedMs: Math.round(time.nowMs() - startedAt) });
    try {
      const { defaultShard } = databases;
      const member = databases.memberConfig(shard);
      const shardOptions = { ...options, defaultShard, applied };
      const report = await migrateShard(databases.database(shard), member, shardOptions);
      ended();
      return report;
    } catch (error) {
      ended({ error });
      throw error;
    }
  });
}

/** What to migrate on one shard. */
export interface MigrateShardOptions extends MigrateOptions {
  /** A database that stores another default shard is refused, unchanged. Default: not checked. */
  readonly defaultShard?: ShardIdentifier;
  /** Receives the names of applied migrations, also of those before a failure. Default: a list of its own. */
  readonly applied?: string[];
}

/** As `migrate`, for one database that may not be part of a topology yet. */
export function migrateShard(
  database: ShardDatabase,
  member: MemberConfig,
  options: MigrateShardOptions,
): Promise<ShardMigrationReport> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  return orMigrationError(`Shard ${member.shard} cannot be migrated`, async () => {
    const session = await database.acquire({ timeoutMs: Math.max(timeoutMs, 1) });
    let report: ShardMigrationReport;
    try {
      report = await migrateSession(new MigratingSession(session, timeoutMs), database, member, options);
    } finally {
      // Destroys the session's lock and settings with it.
      session.destroy();
    }
    await preparePartitions(database, options);
    return report;
  });
}

/** Without partitions, rows are stored in the default partition, which does not prevent a start. */
async function preparePartitions(database: ShardDatabase, { log = () => {} }: MigrateOptions): Promise<void> {
  try {
    const now = await databaseTime(database);
    await makePartitions(database, { now, largestScanBytes: LARGEST_UNNOTICED_SCAN });
  } catch (error) {
    const reason = messageOf(error);
    log(
      `Shard ${database.shard}: partitions were not created; the next start or retention creates them: ${reason}`,
    );
  }
}

async function migrateSession(
  session: MigratingSession,
  database: ShardDatabase,
  member: MemberConfig,
  options: MigrateShardOptions,
): Promise<ShardMigrationReport> {
  const { shard, primary } = member;
  await checkServer(database, primary.allowUnsafe, session);
  await excludeOthers(session, database);
  if (options.defaultShard !== undefined) await isDefaultShardStored(session, shard, options.defaultShard);
  await establishIdentity(session, shard, database.description);
  const { sessionState } = database;
  const { log = () => {}, applied = [] } = options;
  const target = { session, shard, sessionState, log, applied };
  await applyMigrations(target, 'framework', systemMigrations);
  await applyMigrations(target, 'application', options.migrations);
  return { shard, applied };
}

/** Makes this the only process that migrates the database, with the settings of migrations. */
async function excludeOthers(session: MigratingSession, database: ShardDatabase): Promise<void> {
  if (!database.sessionState) {
    session.prologue = lockEachTransaction(session.timeoutMs);
    return;
  }
  await session.script(SESSION_SETTINGS);
  await lockSession(session);
}
