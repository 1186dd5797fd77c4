import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { messageOf } from '../errors.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { onEachShard, SHARDS_AT_ONCE } from '../sharding/each-shard.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import type { MigrationSet } from './apply-migrations.js';
import { SCHEMA } from './bootstrap.js';
import { checksumOf, type Migration } from './migration.js';
import { systemMigrations } from './system-migrations.js';

/**
 * - `current`: no migration is missing, and there are no problems.
 * - `pending`: migrations are missing.
 * - `changed`: the applied migrations differ from the known ones.
 * - `foreign`: the database belongs to another shard.
 * - `unreachable`: the database could not be queried.
 */
export type MigrationState = 'current' | 'pending' | 'changed' | 'foreign' | 'unreachable';

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
  /** Migrations of a newer version of the application. Not a problem during a roll-out. */
  readonly newer: readonly string[];
  /** One sentence per problem. */
  readonly problems: readonly string[];
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
  const known = [...inOrder('framework', systemMigrations), ...inOrder('application', migrations)];
  const look = (shard: ShardIdentifier) => statusOf(databases.database(shard), shard, known);
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
export function shardMigrationStatus(
  database: ShardDatabase,
  migrations: readonly Migration[],
): Promise<ReachedStatus> {
  const known = [...inOrder('framework', systemMigrations), ...inOrder('application', migrations)];
  return statusOf(database, database.shard, known);
}

type ReachedStatus = Omit<ShardMigrationStatus, 'shard' | 'name' | 'state'> & {
  readonly state: Exclude<MigrationState, 'unreachable'>;
};

const NOTHING = { applied: 0, pending: [], newer: [] } as const;

function inOrder(set: MigrationSet, migrations: readonly Migration[]): readonly PendingMigration[] {
  return migrations
    .map((migration) => ({ ...migration, set }))
    .sort((left, right) => (left.name < right.name ? -1 : 1));
}

async function statusOf(
  database: ShardDatabase,
  shard: ShardIdentifier,
  known: readonly PendingMigration[],
): Promise<ReachedStatus> {
  const identity = await identityOf(database);
  if (identity !== undefined && identity !== shard.toString()) {
    const problems = [`${database.description} is shard ${identity}, not ${shard}`];
    return { ...NOTHING, state: 'foreign', problems };
  }
  const applied = identity === undefined ? new Map<string, string>() : await appliedTo(database);
  const pending = known.filter((migration) => !applied.has(keyOf(migration)));
  const names = new Set(known.map(keyOf));
  const unknown = [...applied.keys()].filter((key) => !names.has(key));
  const newer = unknown.filter((key) => isNewer(key, known));
  const problems = [
    ...known
      .filter((migration) => isChanged(migration, applied))
      .map(({ name }) => `${name} was changed after it had been applied`),
    ...unknown
      .filter((key) => !isNewer(key, known))
      .map((key) => `${nameOf(key)} was applied, but is missing here`),
  ];
  const state = problems.length > 0 ? 'changed' : pending.length > 0 ? 'pending' : 'current';
  return { state, applied: applied.size, pending, newer: newer.map(nameOf), problems };
}

/** `(group, member)`, or undefined for a database without an identity. */
async function identityOf(database: ShardDatabase): Promise<string | undefined> {
  const known = await database.query({
    text: `select to_regclass('${SCHEMA}.shard') is not null`,
    values: [],
  });
  if (known.rows[0]?.[0] !== true) return undefined;
  const text = `select group_number, member_number from ${SCHEMA}.shard`;
  const { rows } = await database.query({ text, values: [] });
  const [group, member] = rows[0] ?? [];
  return `(${String(group)}, ${String(member)})`;
}

async function appliedTo(database: ShardDatabase): Promise<ReadonlyMap<string, string>> {
  const table = `${SCHEMA}.migration_checksums`;
  const known = await database.query({ text: `select to_regclass('${table}') is not null`, values: [] });
  if (known.rows[0]?.[0] !== true) return new Map();
  const { rows } = await database.query({
    text: `select migration_set, name, checksum from ${table}`,
    values: [],
  });
  return new Map(rows.map(([set, name, checksum]) => [`${String(set)}/${String(name)}`, String(checksum)]));
}

function keyOf({ set, name }: PendingMigration): string {
  return `${set}/${name}`;
}

function nameOf(key: string): string {
  return key.slice(key.indexOf('/') + 1);
}

function isChanged(migration: PendingMigration, applied: ReadonlyMap<string, string>): boolean {
  const checksum = applied.get(keyOf(migration));
  return checksum !== undefined && checksum !== checksumOf(migration);
}

/** True for a migration after the last one that is known to this process. */
function isNewer(key: string, known: readonly PendingMigration[]): boolean {
  const set = key.slice(0, key.indexOf('/'));
  return known.every((migration) => migration.set !== set || migration.name < nameOf(key));
}
