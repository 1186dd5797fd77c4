import type { DatabaseHarness } from '../../../test/databases/databases.js';
import type { StagedItem } from '../../action/action-plan.js';
import { Decimal } from '../../domain/decimal.js';
import type { ModelDescriptor } from '../../domain/entity.js';
import { type Entity, instantiate } from '../../domain/entity.js';
import { ShardedId } from '../../domain/id.js';
import { uuid7 } from '../../domain/id-source.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { Account, accountModel, OPENED_AT } from '../../domain/test-support/account.js';
import { accountEvents, accountMigrations } from '../../execution/test-support/accounts.js';
import type { Migration } from '../../migration/migration.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { EventCatalog } from '../codec/event-catalog.js';
import { SqlShardStore } from '../sql-shard-store.js';
import type { PlanWrite } from '../write/plan-write.js';

const accounts = accountModel as unknown as ModelDescriptor;
/** Like accounts, but without folding: each state is written separately. */
const strictAccounts: ModelDescriptor = { ...accounts, name: 'StrictAccount', folding: false };

const ids = new Map<string, ShardedId<Account>>();

/** The same id for the same short name. */
export function idOf(name: string): ShardedId<Account> {
  const known = ids.get(name);
  if (known !== undefined) return known;
  const id = ShardedId.generate(Account, ShardIdentifier.of(0, 0));
  ids.set(name, id);
  return id;
}

/**
 * A plan in a short notation: `a1>2` updates row `a` from version 1 to 2, `+a` inserts it, `a1?` expects version 1,
 * `!a1>2` updates a row whose changes are not folded.
 */
export function planOf(...changes: readonly string[]): PlanWrite {
  return {
    action: {
      id: uuid7.next(0),
      name: changes.join(' '),
      principal: 'test',
      startedDate: OPENED_AT,
      completedDate: OPENED_AT,
      params: undefined,
    },
    items: changes.map(itemOf),
    traceContext: undefined,
    key: undefined,
  };
}

function itemOf(change: string): StagedItem {
  const [, strict = '', row = '', from = '', kind = ''] = /^(!?)(\+?[a-z]+)(\d*)([>?]?)/.exec(change) ?? [];
  const descriptor = strict === '' ? accounts : strictAccounts;
  if (row.startsWith('+')) {
    return { kind: 'add', descriptor, model: modelAt(descriptor, row.slice(1), 1), events: [] };
  }
  const expectedVersion = Number(from);
  if (kind === '?') {
    return { kind: 'expect', descriptor, model: modelAt(descriptor, row, expectedVersion), expectedVersion };
  }
  const model = modelAt(descriptor, row, expectedVersion + 1);
  return { kind: 'update', descriptor, model, expectedVersion, events: [] };
}

function modelAt(descriptor: ModelDescriptor, row: string, version: number): Entity {
  const values = { id: idOf(row), state: 'OPEN', version, balance: new Decimal(0), closedBy: null };
  return instantiate(descriptor, { ...values, createdDate: OPENED_AT, updatedDate: OPENED_AT });
}

/** A database with accounts, and the store that writes to it. */
export async function openStore(
  harness: DatabaseHarness,
  migrations: readonly Migration[] = accountMigrations,
): Promise<{ readonly database: ShardDatabase; readonly store: SqlShardStore }> {
  const shard = ShardIdentifier.of(0, 0);
  const database = (await harness.makeShards({ shards: [shard], migrations })).database(shard);
  return { database, store: new SqlShardStore(database, 'test', new EventCatalog(accountEvents)) };
}
