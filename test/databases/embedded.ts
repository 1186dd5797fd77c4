import type { DataSourceConfig } from '../../runtime/config/types.js';
import { pgliteAdapter } from '../../runtime/databases.js';
import type { ShardIdentifier } from '../../runtime/domain/shard-identifier.js';
import type { Migration } from '../../runtime/migration/migration.js';
import type { AdapterOptions, DatabaseAdapter } from '../../runtime/sharding/database-adapter.js';
import { DriverFailure } from '../../runtime/sharding/driver-failure.js';
import type {
  CallOptions,
  PoolStats,
  Rows,
  ShardDatabase,
  ShardSession,
  Statement,
} from '../../runtime/sharding/shard-database.js';
import { type DatabaseSnapshot, restoreSnapshot, takeSnapshot } from './snapshot.js';
import { migrationsKey } from './template.js';

/** An instance of this process. It lives as long as the process. */
interface Instance {
  readonly database: ShardDatabase;
  /** Those of the present borrower. */
  options: AdapterOptions;
  /** The state after its migrations; undefined: it is empty. */
  migrated: Migrated | undefined;
}

interface Migrated {
  readonly key: string;
  readonly snapshot: DatabaseSnapshot;
}

/** Instances that are not in use. */
const free: Instance[] = [];
const inUse: Instance[] = [];

/** Lends instances that are empty, or in the state after their migrations. */
export class EmbeddedLoan implements DatabaseAdapter {
  readonly kind = 'pglite';
  readonly #keyOf: (shard: ShardIdentifier) => string | undefined;
  readonly #lent = new Map<ShardIdentifier, Instance>();
  readonly #ready = new Map<string, Instance>();
  #isMigrated = true;

  private constructor(keyOf: (shard: ShardIdentifier) => string | undefined) {
    this.#keyOf = keyOf;
  }

  /** @param migrations undefined: the instances are empty */
  static async of(
    shards: readonly ShardIdentifier[],
    migrations: readonly Migration[] | undefined,
  ): Promise<EmbeddedLoan> {
    const loan = new EmbeddedLoan((shard) =>
      migrations === undefined ? undefined : migrationsKey(shard, migrations),
    );
    for (const shard of shards) {
      const instance = await takeFree(loan.#keyOf(shard));
      if (instance !== undefined) loan.#ready.set(shard.toString(), instance);
      if (instance?.migrated === undefined) loan.#isMigrated = false;
    }
    return loan;
  }

  open(shard: ShardIdentifier, dataSource: DataSourceConfig, options: AdapterOptions): ShardDatabase {
    const instance = this.#ready.get(shard.toString()) ?? openInstance(shard, dataSource, options);
    instance.options = options;
    this.#ready.delete(shard.toString());
    this.#lent.set(shard, instance);
    return new LentDatabase(shard, instance.database);
  }

  /** Migrates new instances, and records their state. */
  async migrated(migrate: () => Promise<unknown>): Promise<void> {
    if (this.#isMigrated) return;
    await migrate();
    for (const [shard, instance] of this.#lent) {
      const key = this.#keyOf(shard);
      if (key === undefined || instance.migrated !== undefined) continue;
      instance.migrated = { key, snapshot: await takeSnapshot(instance.database) };
    }
  }
}

/** Returns the lent instances, in the state in which they can be lent again. */
export async function releaseEmbedded(): Promise<void> {
  for (const instance of inUse.splice(0)) {
    const isRestored =
      instance.migrated !== undefined &&
      (await restoreSnapshot(instance.database, instance.migrated.snapshot));
    if (!isRestored) await emptyInstance(instance);
    free.push(instance);
  }
}

/** An instance with the same migrations, or an empty one, or any other after clearing it. */
async function takeFree(key: string | undefined): Promise<Instance | undefined> {
  const wanted = [
    (instance: Instance) => instance.migrated?.key === key,
    ({ migrated }: Instance) => migrated === undefined,
    () => true,
  ];
  for (const isWanted of wanted) {
    const index = free.findIndex(isWanted);
    const [instance] = index === -1 ? [] : free.splice(index, 1);
    if (instance === undefined) continue;
    inUse.push(instance);
    if (instance.migrated !== undefined && instance.migrated.key !== key) await emptyInstance(instance);
    return instance;
  }
  return undefined;
}

function openInstance(
  shard: ShardIdentifier,
  dataSource: DataSourceConfig,
  options: AdapterOptions,
): Instance {
  const serverInDoubt = (): void => instance.options.serverInDoubt?.();
  const database = pgliteAdapter.open(shard, dataSource, { ...options, serverInDoubt });
  const instance: Instance = { database, options, migrated: undefined };
  inUse.push(instance);
  return instance;
}

class LentDatabase implements ShardDatabase {
  readonly kind = 'pglite';
  readonly sessionState = true;
  readonly shard: ShardDatabase['shard'];
  readonly instance: ShardDatabase;
  #isClosed = false;

  constructor(shard: ShardDatabase['shard'], instance: ShardDatabase) {
    this.shard = shard;
    this.instance = instance;
  }

  get description(): string {
    return this.instance.description;
  }

  query(statement: Statement, options?: CallOptions): Promise<Rows> {
    if (this.#isClosed) return Promise.reject(closed());
    return this.instance.query(statement, options);
  }

  acquire(options?: CallOptions): Promise<ShardSession> {
    if (this.#isClosed) return Promise.reject(closed());
    return this.instance.acquire(options);
  }

  stats(): PoolStats {
    return this.instance.stats();
  }

  /** Work that a test has left behind must not use the instance of the next test. */
  close(): Promise<void> {
    this.#isClosed = true;
    return Promise.resolve();
  }
}

function closed(): DriverFailure {
  return new DriverFailure('The database is closed', { phase: 'not-sent', reason: 'closed' });
}

async function emptyInstance(instance: Instance): Promise<void> {
  instance.migrated = undefined;
  const session = await instance.database.acquire();
  try {
    const { rows } = await session.query({
      text: `select format('drop schema %I cascade', nspname) from pg_namespace
        where nspname !~ '^pg_' and nspname <> 'information_schema'`,
      values: [],
    });
    await session.script(`${rows.map(([drop]) => `${String(drop)};`).join('\n')} create schema public;`);
  } finally {
    session.destroy();
  }
}
