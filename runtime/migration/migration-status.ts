import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { messageOf, ShardIdentityError } from '../errors.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { onEachShard, SHARDS_AT_ONCE } from '../sharding/each-shard.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { storedShard } from '../sharding/stored-shard.js';
import type { Migration } from './migration.js';
import { type Comparison, compareMigrations, type MigrationSet, readApplied } from './migration-order.js';
import { systemMigrations } from './system-migrations.js';

/**
 * As of a comparison, or:
 * - `foreign`: the database belongs to another shard.
 * - `unreachable`: the database could not be queried.
 */
export type MigrationState = Comparison['state'] | 'foreign' | 'unreachable';

/** The migration state of one shard. Migrations of another release are no problem during a roll-out. */
export interface ShardMigrationStatus extends Omit<Comparison, 'state' | 'pending'> {
  readonly shard: ShardIdentifier;
  /** Name of the member. */
  readonly name: string;
  readonly state: MigrationState;
  /** Number of applied migrations, including this package's own. */
  readonly applied: number;
  /** Missing migrations in the order in which they would be applied; this package's own first. */
  readonly pending: readonly PendingMigration[];
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
  const stored = await storedShard(database, 'shard');
  const foreign = identityProblem(database, stored);
  if (foreign !== undefined) return { ...NOTHING, state: 'foreign', problems: [foreign] };
  let status: ReachedStatus = { ...NOTHING, state: 'current', problems: [] };
  for (const [set, known] of [
    ['framework', systemMigrations] as const,
    ['application', migrations] as const,
  ]) {
    const applied = stored === undefined ? [] : await readApplied(database, set);
    const { state, pending, newer, problems, ...unordered } = compareMigrations(known, applied);
    status = {
      ...status,
      ...unordered,
      state: STATES.find((each) => each === state || each === status.state) ?? 'current',
      applied: status.applied + applied.length,
      pending: [...status.pending, ...pending.map((each) => ({ ...each, set }))],
      newer: [...status.newer, ...newer],
      problems: [...status.problems, ...problems],
    };
  }
  return status;
}

/**
 * Checks that none of these databases belongs to another shard. One that is empty or cannot be queried is not checked.
 *
 * @throws ShardIdentityError
 */
export async function requireIdentities(
  databases: DatabaseRegistry,
  shards: readonly ShardIdentifier[],
): Promise<void> {
  const look = async (shard: ShardIdentifier): Promise<string | undefined> => {
    const database = databases.database(shard);
    return identityProblem(database, await storedShard(database, 'shard'));
  };
  for (const outcome of await onEachShard(shards, SHARDS_AT_ONCE, look))
    if (outcome.ok && outcome.value !== undefined)
      throw new ShardIdentityError(`${outcome.value}. Are two URLs swapped?`);
}

/** What is wrong with a database that belongs to another shard. */
function identityProblem(
  { shard, description }: ShardDatabase,
  stored: ShardIdentifier | undefined,
): string | undefined {
  return stored === undefined || stored.bits === shard.bits
    ? undefined
    : `${description} is shard ${stored}, not ${shard}`;
}

type ReachedStatus = Omit<ShardMigrationStatus, 'shard' | 'name' | 'state'> & {
  readonly state: Exclude<MigrationState, 'unreachable'>;
};

/** The worst state first. */
const STATES = ['changed', 'unordered', 'pending'] as const;

const NOTHING = { applied: 0, pending: [], newer: [] } as const;
