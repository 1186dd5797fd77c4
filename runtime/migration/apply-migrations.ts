import { type Kysely, Migrator, PostgresAdapter } from 'kysely';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { MigrationError, messageOf } from '../errors.js';
import { printTables, readMigrationHeader } from '../migration-header.js';
import { kyselyOver, toStatement } from '../sharding/kysely-session.js';
import type { ShardSession } from '../sharding/shard-database.js';
import { DATABASE, endSpan, startSpan, within } from '../tracing.js';
import { SCHEMA } from './bootstrap.js';
import { checksumOf, type Migration, runsInTransaction } from './migration.js';
import {
  byName,
  compareMigrations,
  type MigrationSet,
  readApplied,
  requireApplicable,
} from './migration-order.js';
import { type MigratingSession, runAlone, runInTransaction } from './run-migration.js';

export interface MigrationTarget {
  readonly session: MigratingSession;
  readonly shard: ShardIdentifier;
  /** See `ShardDatabase.sessionState`. */
  readonly sessionState: boolean;
  readonly log: (message: string) => void;
}

interface ChecksumTable {
  readonly [table: `${string}.migration_checksums`]: {
    migration_set: string;
    name: string;
    checksum: string;
    tables: string | null;
  };
}

/**
 * Applies missing migrations, each in its own transaction unless it declares otherwise.
 *
 * @returns the names of the applied migrations
 * @throws MigrationError naming shard and migration
 * @throws MigrationOrderError if one would have to run after a later one that touches the same table
 */
export async function applyMigrations(
  target: MigrationTarget,
  set: MigrationSet,
  migrations: readonly Migration[],
): Promise<readonly string[]> {
  checkNames(migrations);
  const { session, shard, sessionState, log } = target;
  await session.script(CHECKSUMS_SQL);
  const comparison = compareMigrations(migrations, await readApplied(session, set));
  requireApplicable(comparison, shard);
  const newer = comparison.newer.map((name) => ({ name, up: '' }));
  const found = await migratorFor(target, set, [...migrations, ...newer], runInTransaction).getMigrations();
  const executed = new Set(found.flatMap(({ name, executedAt }) => (executedAt === undefined ? [] : [name])));
  // Kysely refuses a table with names that its provider lacks.
  const all = [...migrations, ...newer.filter(({ name }) => executed.has(name))];
  const migrators = {
    inTransaction: migratorFor(target, set, all, runInTransaction),
    alone: migratorFor(target, set, all, runAlone, { disableTransactions: true }),
  };
  const pending = migrations.filter(({ name }) => !executed.has(name)).sort(byName);
  const applied: string[] = [];
  // One step per call, because Kysely applies all steps of a call in one transaction.
  for (const migration of pending) {
    const alone = !runsInTransaction(migration);
    if (alone && !sessionState) throw failure(shard, migration.name, new MigrationError(NEEDS_SESSION));
    const attributes = { ...DATABASE, 'fw.shard': shard.toString(), 'fw.migration': migration.name };
    const span = startSpan('migrate', { kind: 'CLIENT', attributes });
    const migrator = migrators[alone ? 'alone' : 'inTransaction'];
    const { error, results } = await within(span, () => migrator.migrateUp());
    endSpan(span, error);
    const name = results?.[0]?.migrationName;
    if (error !== undefined) throw failure(shard, name, error);
    if (name === undefined) break;
    applied.push(name);
    log(`Shard ${shard}: applied ${set} migration ${name}`);
  }
  return applied;
}

const NEEDS_SESSION =
  'it runs outside of a transaction, which needs a direct connection to the server, not one through PgBouncer';

const CHECKSUMS_SQL = `
create table if not exists ${SCHEMA}.migration_checksums (
  migration_set text not null,
  name text not null,
  checksum text not null,
  tables text,
  primary key (migration_set, name)
)`;

function checkNames(migrations: readonly Migration[]): void {
  const names = new Set<string>();
  for (const { name } of migrations) {
    if (names.has(name)) throw new MigrationError(`Two migrations are named ${name}`);
    names.add(name);
  }
}

function migratorFor(
  { session }: MigrationTarget,
  set: MigrationSet,
  migrations: readonly Migration[],
  run: typeof runAlone,
  transactions: { readonly disableTransactions?: boolean } = {},
): Migrator {
  const entries = migrations.map((migration) => {
    const { name } = migration;
    const up = async (db: Kysely<ChecksumTable>): Promise<void> => {
      await run(session, migration);
      const checksum = checksumOf(migration);
      const declared = readMigrationHeader(migration.up).tables;
      const tables = declared === undefined ? null : printTables(declared);
      await db
        .insertInto(`${SCHEMA}.migration_checksums`)
        .values({ migration_set: set, name, checksum, tables })
        // Outside of a transaction, a process may have been killed between this row and the migrator's own row.
        .onConflict((row) => row.columns(['migration_set', 'name']).doUpdateSet({ checksum, tables }))
        .execute();
    };
    return [name, { up }];
  });
  return new Migrator({
    db: kyselyOn(session),
    provider: { getMigrations: () => Promise.resolve(Object.fromEntries(entries)) },
    migrationTableSchema: SCHEMA,
    migrationTableName: `${set}_migrations`,
    migrationLockTableName: `${set}_migrations_lock`,
    // The order was checked.
    allowUnorderedMigrations: true,
    nameComparator: (left, right) => (left < right ? -1 : Number(left > right)),
    ...transactions,
  });
}

function kyselyOn(session: ShardSession): Kysely<unknown> {
  const command = (text: string) => session.query({ text, values: [] });
  return kyselyOver<unknown>((query) => session.query(toStatement(query)), {
    // A script, so that it begins with the prologue of this session's transactions.
    begin: () => session.script('BEGIN'),
    commit: async () => {
      const { command: tag } = await command('COMMIT');
      if (tag !== 'COMMIT')
        throw new MigrationError(`it was rolled back (the server answered COMMIT with ${tag})`);
    },
    // The session is destroyed afterwards, and another error must not hide the original one.
    rollback: async () => {
      await command('ROLLBACK').catch(() => {});
    },
    streamRefusal: () => new MigrationError('Streaming is not supported'),
    adapter: new LocklessAdapter(),
  });
}

/** The session already holds its own lock. */
class LocklessAdapter extends PostgresAdapter {
  override acquireMigrationLock(): Promise<void> {
    return Promise.resolve();
  }

  override releaseMigrationLock(): Promise<void> {
    return Promise.resolve();
  }
}

function failure(shard: ShardIdentifier, name: string | undefined, cause: unknown): MigrationError {
  const reason = messageOf(cause);
  return new MigrationError(`Migration ${name ?? '(none)'} failed on shard ${shard}: ${reason}`, { cause });
}
