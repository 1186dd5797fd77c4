import type { MemberConfig } from '../config/types.js';
import { FwError, MigrationError, ShardIdentityError } from '../errors.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import type { Migration } from './migration.js';
import { shardMigrationStatus } from './migration-status.js';
import { checkServer } from './server-check.js';

export interface VerifyOptions {
  /** The application's migrations, in any order. */
  readonly migrations: readonly Migration[];
}

/** So many migrations are named, so that a new database is not described by all of them. */
const SHOWN = 3;

/**
 * Looks whether a shard that somebody else migrates is as `migrateShard` would leave it, and changes nothing. Needs the
 * rights of an application's role alone.
 *
 * @throws MigrationError naming what is missing @throws ShardIdentityError if the database is another shard, or none
 * @throws UnsafeServerError if the server is too old or may lose acknowledged commits
 */
export async function verifyShard(
  database: ShardDatabase,
  member: MemberConfig,
  options: VerifyOptions,
): Promise<void> {
  try {
    await verify(database, member, options);
  } catch (error) {
    if (error instanceof FwError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new MigrationError(`Shard ${member.shard} cannot be verified: ${reason}`, { cause: error });
  }
}

async function verify(
  database: ShardDatabase,
  { shard, primary }: MemberConfig,
  { migrations }: VerifyOptions,
): Promise<void> {
  await checkServer(database, primary.allowUnsafe);
  const status = await shardMigrationStatus(database, migrations);
  switch (status.state) {
    case 'current':
      return;
    case 'foreign':
      throw new ShardIdentityError(`${status.problems.join('; ')}. Are two URLs swapped?`);
    case 'changed':
      throw new MigrationError(`Shard ${shard}: ${status.problems.join('; ')}`);
    case 'pending': {
      const names = status.pending.slice(0, SHOWN).map(({ name }) => name);
      const more = status.pending.length > SHOWN ? `, and ${status.pending.length - SHOWN} more` : '';
      throw new MigrationError(
        `Shard ${shard} lacks the migrations ${names.join(', ')}${more}. This process does not migrate ` +
          '(fw.migrate-at-start is false): run `fw-gen migrate up` as the owner of the schema.',
      );
    }
  }
}
