import type { DatabaseHarness } from '../../../test/databases/databases.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { ledgerMigrations } from '../../events/test-support/ledger.js';
import { HERE } from '../../execution/test-support/accounts.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';

/** Databases whose tables the test's role owns, as retention requires. */
export function ownedShards(
  harness: DatabaseHarness,
  shards: readonly ShardIdentifier[] = [HERE],
): Promise<DatabaseRegistry> {
  return harness.makeShards({ shards, migrations: ledgerMigrations, owner: 'retention' });
}
