import { Kysely, Migrator, PostgresAdapter } from 'kysely';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { MigrationError, messageOf } from '../errors.js';
import { SendingConnection, ShardDialect, SingleConnectionDriver } from '../sharding/kysely-session.js';
import type { ShardSession } from '../sharding/shard-database.js';
import { SCHEMA } from './bootstrap.js';
import { checksumOf, type Migration, runsInTransaction } from './migration.js';
import { type MigratingSession, runAlone, runInTransaction } from './run-migration.js';

export interface MigrationTarget {
  readonly session: MigratingSession;
  readonly shard: ShardIdentifier;
  /** See `ShardDatabase.sessionState`. */
  readonly sessionState: boolean;
  readonly log: (message: string) => void;
}

/** The owner of migrations. The two sets are numbered independently, so each has its own table. */
export type MigrationSet = 'framework' | 'application';

interface ChecksumTable {
  readonly [table: `${string}.migration_checksums`]: {
    migration_set: string;
    name: string;
    checksum: string;
  };
}

/**
 * Applies missing migrations, each in its own transaction unless it declares otherwise.
 *
 * @returns the names of the applied migrations
 * @throws MigrationError naming shard and migration
 */
export async function applyMigrations(
  target: MigrationTarget,
  set: MigrationSet,
  migrations: readonly Migration[],
): Promise<readonly string[]> {
  checkNames(migrations);
  const { session, shard, sessionState, log } = target;
  await session.script(CHECKSUMS_SQL);
  await checkApplied(target, set, migrations);
  const migrators = {
    inTransaction: migratorFor(target, set, migrations, runInTransaction),
    alone: migratorFor(target, set, migrations, runAlone, { disableTransactions: true }),
  };
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  const pending = (await migrators.inTransaction.getMigrations()).filter(
    (each) => each.executedAt === undefined,
  );
  const applied: string[] = [];
  // One step per call, because Kysely applies all steps of a call in one transaction.
  for (const { name: next } of pending) {
    const migration = known.get(next);
    const alone = migration !== undefined && !runsInTransaction(migration);
    if (alone && !sessionState) throw failure(shard, next, new MigrationError(NEEDS_SESSION));
    const { error, results } = await migrators[alone ? 'alone' : 'inTransaction'].migrateUp();
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
  primary key (migration_set, name)
)`;

function checkNames(migrations: readonly Migration[]): void {
  const names = new Set<string>();
  for (const { name } of migrations) {
    if (names.has(name)) throw new MigrationError(`Two migrations are named ${name}`);
    names.add(name);
  }
}

/**
 * Compares the applied migrations with the known ones. Unknown migrations after the last known one are accepted, so
 * that an older version of the application still starts while a newer one is rolled out.
 */
async function checkApplied(
  { session, shard }: MigrationTarget,
  set: MigrationSet,
  migrations: readonly Migration[],
): Promise<void> {
  const known = new Map(migrations.map((migration) => [migration.name, checksumOf(migration)]));
  const last = [...known.keys()].sort().at(-1) ?? '';
  const { rows } = await session.query({
    text: `select name, checksum from ${SCHEMA}.migration_checksums where migration_set = $1`,
    values: [set],
  });
  for (const [applied, checksum] of rows) {
    const name = String(applied);
    const expected = known.get(name);
    if (expected === undefined && name < last) {
      throw new MigrationError(
        `Migration ${name} was applied to shard ${shard}, but it is missing here. Restore it.`,
      );
    }
    if (expected !== undefined && expected !== checksum) {
      throw new MigrationError(
        `Migration ${name} was changed after it had been applied to shard ${shard}. ` +
          'Restore its text, and put the change into a new migration.',
      );
    }
  }
}

/** Runs a migration's text. */
type Run = (session: MigratingSession, migration: Migration) => Promise<void>;

function migratorFor(
  { session }: MigrationTarget,
  set: MigrationSet,
  migrations: readonly Migration[],
  run: Run,
  transactions: { readonly disableTransactions?: boolean } = {},
): Migrator {
  const entries = migrations.map((migration) => {
    const up = async (db: Kysely<ChecksumTable>): Promise<void> => {
      await run(session, migration);
      await rememberChecksum(db, set, migration);
    };
    return [migration.name, { up }];
  });
  return new Migrator({
    db: kyselyOn(session),
    provider: { getMigrations: () => Promise.resolve(Object.fromEntries(entries)) },
    migrationTableSchema: SCHEMA,
    migrationTableName: `${set}_migrations`,
    migrationLockTableName: `${set}_migrations_lock`,
    nameComparator: (left, right) => (left < right ? -1 : Number(left > right)),
    ...transactions,
  });
}

async function rememberChecksum(
  db: Kysely<ChecksumTable>,
  set: MigrationSet,
  migration: Migration,
): Promise<void> {
  const checksum = checksumOf(migration);
  await db
    .insertInto(`${SCHEMA}.migration_checksums`)
    .values({ migration_set: set, name: migration.name, checksum })
    // Outside of a transaction, a process may have been killed between this row and the migrator's own row.
    .onConflict((conflict) => conflict.columns(['migration_set', 'name']).doUpdateSet({ checksum }))
    .execute();
}

function kyselyOn(session: ShardSession): Kysely<unknown> {
  const command = (text: string) => session.query({ text, values: [] });
  const driver = new SingleConnectionDriver(new SendingConnection((statement) => session.query(statement)), {
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
  });
  return new Kysely({ dialect: new ShardDialect(driver, { adapter: new LocklessAdapter() }) });
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
