import type { ModelDescriptor } from '../../domain/entity.js';
import { uuid7 } from '../../domain/id-source.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { type Account, accountModel } from '../../domain/test-support/account.js';
import type { Migration } from '../../migration/migration.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { ReplicaReads, readSource } from '../../sharding/replica-reads.js';
import { readOnlyKysely } from '../read/kysely-dialect.js';
import type { PartialPage } from '../read/list-reader.js';
import type { Page, PageRequest } from '../read/page.js';
import {
  type LimitedList,
  type PagedList,
  Repository,
  type RepositoryContext,
  type StreamedList,
} from '../read/repository.js';
import type { ScatterResult } from '../read/scatter.js';

const columns = `state text not null, version bigint not null, balance numeric(19,4) not null, nickname text,
  closed_by text, created_date timestamptz not null, updated_date timestamptz not null`;

/** The accounts of each shard, and all accounts again in one table, whose order is the expected one. */
export const accountMigrations: readonly Migration[] = [
  { name: '0001_accounts', up: `create table accounts (id uuid primary key, ${columns})` },
  { name: '0002_everything', up: `create table everything (id uuid primary key, ${columns})` },
];

export interface AccountTables {
  readonly accounts: {
    readonly id: string;
    readonly state: string;
    readonly nickname: string | null;
    readonly balance: string;
  };
}

type Tables = AccountTables & Record<string, Record<string, unknown>>;

/** Exposes the protected lists of a repository. */
export class AccountLists extends Repository<Account, Tables> {
  constructor(databases: DatabaseRegistry, model: ModelDescriptor<Account> = accountModel) {
    super(contextOf(databases), model);
  }

  page(request: PageRequest, list: PagedList<Account, Tables> = {}): Promise<Page<Account>> {
    return this.findPage(request, list);
  }

  partialPage(request: PageRequest, list: PagedList<Account, Tables> = {}): Promise<PartialPage<Account>> {
    return this.findPartialPage(request, list);
  }

  many(list: LimitedList<Account, Tables>): Promise<readonly Account[]> {
    return this.findMany(list);
  }

  all(list: StreamedList<Account, Tables> = {}): AsyncGenerator<Account, void, undefined> {
    return this.stream(list);
  }

  balances(timeoutMs?: number): Promise<ScatterResult<string>> {
    return this.scatter(
      async (db) =>
        (await db.selectFrom('accounts').select('balance').execute()).map(({ balance }) => balance),
      { timeoutMs },
    );
  }
}

function contextOf(databases: DatabaseRegistry): RepositoryContext {
  const replicas = new ReplicaReads(databases);
  return {
    shards: databases.shards(),
    defaultShard: databases.defaultShard,
    read: () => Promise.reject(new Error('Lists do not read by id')),
    readByKey: () => Promise.reject(new Error('Lists do not read by key')),
    queries: (shard, { replica, timeoutMs } = {}) =>
      readOnlyKysely(
        replica === undefined ? readSource(databases.database(shard)) : replicas.reader(shard, replica),
        timeoutMs,
      ),
  };
}

/** One stored account; absent fields have defaults. */
export interface AccountRow {
  readonly shard: ShardIdentifier;
  readonly balance?: string;
  readonly nickname?: string | null;
  /** In PostgreSQL's format, with microseconds. */
  readonly created?: string;
  readonly state?: 'OPEN' | 'GONE';
}

/** Stores an account on its shard, and in the combined table on the first shard. */
export async function storeAccount(databases: DatabaseRegistry, row: AccountRow): Promise<string> {
  const { shard, balance = '0', nickname = null, created = '2024-06-01T08:00:00Z', state = 'OPEN' } = row;
  const id = uuid7.next(shard.bits);
  const insert = (table: string, target: ShardIdentifier) =>
    databases.database(target).query({
      text: `insert into ${table} (id, state, version, balance, nickname, created_date, updated_date)
        values ($1, $2, 1, $3, $4, $5, $5)`,
      values: [id, state, balance, nickname, created],
    });
  await insert('accounts', shard);
  await insert('everything', databases.defaultShard);
  return id;
}

/** The ids of all accounts in the order of the combined table. */
export async function idsInOneTable(
  databases: DatabaseRegistry,
  orderBy: string,
): Promise<readonly string[]> {
  const { rows } = await databases.database(databases.defaultShard).query({
    text: `select id from everything where state <> 'GONE' order by ${orderBy}`,
    values: [],
  });
  return rows.map(([id]) => String(id));
}

export async function removeAccounts(databases: DatabaseRegistry): Promise<void> {
  for (const shard of databases.shards()) {
    await databases.database(shard).query({ text: 'truncate accounts, everything', values: [] });
  }
}
