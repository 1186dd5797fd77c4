import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { messageOf } from '../errors.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { onEachShard, SHARDS_AT_ONCE } from '../sharding/each-shard.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { SCHEMA, storedIdentity } from './bootstrap.js';
import type { Migration } from './migration.js';
import {
  type AppliedMigration,
  compareMigrations,
  describeUnordered,
  type MigrationSet,
  readApplied,
  type Unordered,
} from './migration-order.js';
import { systemMigrations } from './system-migrations.js';

/**
 * - `current`: no migration is missing, and there are no problems.
 * - `pending`: migrations are missing.
 * - `changed`: the applied migrations differ from the known ones.
 * - `unordered`: a missing migration must not be applied after a later one that was applied.
 * - `foreign`: the database belongs to another shard.
 * - `unreachable`: the database could not be queried.
 */
export type MigrationState = 'current' | 'pending' | 'changed' | 'unordered' | 'foreign' | 'unreachable';

/** The migration state of one shard. */
export interface ShardMigrationStatus {
  readonly shard: ShardIdentifier;
  /** Name of the member. */
  readonly name: string;
  readonly state: MigrationState;
  /** Number of applied migrations, including this package's own. */
  readonly applied: number;
  /** Missing migrations in the order in which they would be applied; this package's own first. */
  readonly pending: readonly PendingMigration[];
  /** Applied migrations of another release, on which no migration here depends. Not a problem during a roll-out. */
  readonly newer: readonly string[];
  /** One sentence per problem. */
  readonly problems: readonly string[];
  /** Why the state is `unordered`. */
  readonly unordered?: Unordered;
}

export interface PendingMigration extends Migration {
  readonly set: MigrationSet;
}

export interface MigrationStatusOptions {
  /** The application's migrations, in any order. */
  readonly migrations: readonly Migration[];
  /** Maximum shards at a time. Default 8. */
  readonly atOnce?: number;
}

/** Reads the state of every shard. Changes nothing. */
export async function migrationStatus(
  databases: DatabaseRegistry,
  { migrations, atOnce = SHARDS_AT_ONCE }: MigrationStatusOptions,
): Promise<readonly ShardMigrationStatus[]> {
  const look = (shard: ShardIdentifier) => shardMigrationStatus(databases.database(shard), migrations);
  const outcomes = await onEachShard(databases.shards(), atOnce, look);
  return outcomes.map((outcome) => {
    const { name } = databases.memberConfig(outcome.shard);
    const found = outcome.ok
      ? outcome.value
      : { ...NOTHING, state: 'unreachable' as const, problems: [messageOf(outcome.error)] };
    return { shard: outcome.shard, name, ...found };
  });
}

/** The migration state of a reachable database. */
export async function shardMigrationStatus(
  database: ShardDatabase,
  migrations: readonly Migration[],
): Promise<ReachedStatus> {
  const { shard } = database;
  const identity = (await hasTable(database, 'shard')) ? await storedIdentity(database) : undefined;
  if (identity !== undefined && identity !== shard.toString()) {
    const problems = [`${database.description} is shard ${identity}, not ${shard}`];
    return { ...NOTHING, state: 'foreign', problems };
  }
  const isFresh = identity === undefined || !(await hasTable(database, 'migration_checksums'));
  const sets = [['framework', systemMigrations] as const, ['application', migrations] as const];
  const statuses: ReachedStatus[] = [];
  for (const [set, known] of sets)
    statuses.push(statusOfSet(set, known, isFresh ? [] : await readApplied(database, set)));
  return {
    state: STATES.find((state) => statuses.some((each) => each.state === state)) ?? 'current',
    applied: statuses.reduce((sum, each) => sum + each.applied, 0),
    pending: statuses.flatMap((each) => each.pending),
    newer: statuses.flatMap((each) => each.newer),
    problems: statuses.flatMap((each) => each.problems),
    ...statuses.reduce((found, { unordered }) => (unordered === undefined ? found : { unordered }), {}),
  };
}

type ReachedStatus = Omit<ShardMigrationStatus, 'shard' | 'name' | 'state'> & {
  readonly state: Exclude<MigrationState, 'unreachable'>;
};

/** The worst state first. */
const STATES = ['changed', 'unordered', 'pending'] as const;

const NOTHING = { applied: 0, pending: [], newer: [] } as const;

function statusOfSet(
  set: MigrationSet,
  known: readonly Migration[],
  applied: readonly AppliedMigration[],
): ReachedStatus {
  const { pending, newer, missing, changed, unordered } = compareMigrations(known, applied);
  const differences = [
    ...changed.map((name) => `${name} was changed after it had been applied`),
    ...missing.map((name) => `${name} was applied, but is missing here`),
  ];
  const problems = [...differences, ...(unordered === undefined ? [] : [describeUnordered(unordered)])];
  const state =
    differences.length > 0
      ? 'changed'
      : unordered !== undefined
        ? 'unordered'
        : pending.length > 0
          ? 'pending'
          : 'current';
  return {
    state,
    applied: applied.length,
    pending: pending.map((migration) => ({ ...migration, set })),
    newer,
    problems,
    ...(unordered === undefined ? {} : { unordered }),
  };
}

async function hasTable(database: ShardDatabase, name: string): Promise<boolean> {
  const text = `select to_regclass('${SCHEMA}.${name}') is not null`;
  return (await database.query({ text, values: [] })).rows[0]?.[0] === true;
}
