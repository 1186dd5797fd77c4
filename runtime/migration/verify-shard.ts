import type { MemberConfig } from '../config/types.js';
import type { ModelDescriptor } from '../domain/entity.js';
import { MigrationError, ShardIdentityError } from '../errors.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { missingRights } from './application-rights.js';
import { type Migration, orMigrationError } from './migration.js';
import { requireApplicable } from './migration-order.js';
import { shardMigrationStatus } from './migration-status.js';
import { checkServer } from './server-check.js';

export interface VerifyOptions {
  /** The application's migrations, in any order. */
  readonly migrations: readonly Migration[];
  /** Models whose tables are read and written. */
  readonly models: readonly ModelDescriptor[];
}

/** Maximum number of missing migrations that are named. */
const SHOWN = 3;

/**
 * Checks, without changing anything, whether a separately migrated shard is in the state that `migrateShard` produces.
 * Needs only the rights of an application's role.
 *
 * @throws MigrationError naming the missing migrations
 * @throws MigrationOrderError if one of them must not be applied after a later one that was applied
 * @throws ShardIdentityError if the database belongs to another shard, or to none
 * @throws UnsafeServerError if the server is too old or may lose acknowledged commits
 */
export function verifyShard(
  database: ShardDatabase,
  { shard, primary }: MemberConfig,
  { migrations, models }: VerifyOptions,
): Promise<void> {
  return orMigrationError(`Shard ${shard} cannot be verified`, async () => {
    await checkServer(database, primary.allowUnsafe);
    const status = await shardMigrationStatus(database, migrations);
    switch (status.state) {
      case 'current': {
        const tables = models.map(({ table }) => table);
        const missing = await missingRights(database, tables);
        if (missing.length === 0) return;
        throw new MigrationError(
          `Shard ${shard}: the user lacks the rights ${missing.join(', ')}. Grant them as the owner of the schema ` +
            '(docs/events.md, Roles).',
        );
      }
      case 'foreign':
        throw new ShardIdentityError(`${status.problems.join('; ')}. Are two URLs swapped?`);
      case 'changed':
      case 'unordered':
        requireApplicable(status, shard);
        return;
      case 'pending': {
        const names = status.pending.slice(0, SHOWN).map(({ name }) => name);
        const more = status.pending.length > SHOWN ? `, and ${status.pending.length - SHOWN} more` : '';
        throw new MigrationError(
          `Shard ${shard} lacks the migrations ${names.join(', ')}${more}. This process does not migrate ` +
            '(fw.migrate-at-start is false): run `fw-gen migrate up` as the owner of the schema.',
        );
      }
    }
  });
}
