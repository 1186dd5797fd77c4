import { pgliteAdapter } from '../databases.js';
import type { DatabaseAdapter } from '../sharding/database-adapter.js';
import type {
  CallOptions,
  PoolStats,
  Rows,
  ShardDatabase,
  ShardSession,
  Statement,
} from '../sharding/shard-database.js';

/** Instances of this process that are not in use, by the number of times they were used. */
const free: ShardDatabase[] = [];
const inUse: LentDatabase[] = [];

/** Lends instances that live as long as this process. Each is empty when it is lent. */
export const sharedEmbeddedAdapter: DatabaseAdapter = {
  kind: 'pglite',
  open(shard, dataSource, options) {
    const instance = free.pop() ?? pgliteAdapter.open(shard, dataSource, options);
    const lent = new LentDatabase(shard, instance);
    inUse.push(lent);
    return lent;
  },
};

/** Empties what was lent, so that it can be lent again. */
export async function releaseEmbedded(): Promise<void> {
  for (const lent of inUse.splice(0)) {
    await emptyDatabase(lent.instance);
    free.push(lent.instance);
  }
}

class LentDatabase implements ShardDatabase {
  readonly kind = 'pglite';
  readonly sessionState = true;
  readonly shard: ShardDatabase['shard'];
  readonly instance: ShardDatabase;

  constructor(shard: ShardDatabase['shard'], instance: ShardDatabase) {
    this.shard = shard;
    this.instance = instance;
  }

  get description(): string {
    return this.instance.description;
  }

  query(statement: Statement, options?: CallOptions): Promise<Rows> {
    return this.instance.query(statement, options);
  }

  acquire(options?: CallOptions): Promise<ShardSession> {
    return this.instance.acquire(options);
  }

  stats(): PoolStats {
    return this.instance.stats();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

async function emptyDatabase(database: ShardDatabase): Promise<void> {
  const session = await database.acquire();
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
