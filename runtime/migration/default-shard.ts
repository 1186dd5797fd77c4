import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { DefaultShardError } from '../errors.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { storedShard } from '../sharding/stored-shard.js';

/**
 * Each database stores which shard is the default one of its cluster: the first process that takes it into service
 * writes it. Another one would look for idempotency keys and models without a sharded id in the wrong database, and run
 * actions again.
 */
export class StoredDefaultShard {
  readonly #configured: ShardIdentifier;
  /** Databases that do not store it yet, because a start that is refused must not store a wrong one. */
  readonly #missing: ShardDatabase[] = [];
  #isAgreed = false;

  /** @param configured `fw.sharding.default-shard` */
  constructor(configured: ShardIdentifier) {
    this.#configured = configured;
  }

  /** @throws DefaultShardError if the database stores another one */
  async check(database: ShardDatabase): Promise<void> {
    if (await isDefaultShardStored(database, database.shard, this.#configured)) return;
    if (this.#isAgreed) await storeDefaultShard(database, this.#configured);
    else this.#missing.push(database);
  }

  /** Must be called once no database has stored another one. @throws DefaultShardError if one has meanwhile */
  async agree(): Promise<void> {
    this.#isAgreed = true;
    for (const database of this.#missing.splice(0)) {
      await storeDefaultShard(database, this.#configured).catch((error: unknown) => {
        // After another failure, such as a lost connection, the next start stores it.
        if (error instanceof DefaultShardError) throw error;
      });
    }
  }
}

/** Stores the default shard, if none is stored. @throws DefaultShardError if another one is stored */
export async function storeDefaultShard(database: ShardDatabase, configured: ShardIdentifier): Promise<void> {
  const text =
    'insert into eventlog.default_shard (group_number, member_number) values ($1, $2) on conflict do nothing';
  await database.query({ text, values: [configured.group, configured.member] });
  await isDefaultShardStored(database, database.shard, configured);
}

/** Changes nothing, also in a database without tables. @throws DefaultShardError if another one is stored */
export async function isDefaultShardStored(
  database: Pick<ShardDatabase, 'query'>,
  shard: ShardIdentifier,
  configured: ShardIdentifier,
): Promise<boolean> {
  const stored = await storedShard(database, 'default_shard');
  if (stored === undefined || stored.bits === configured.bits) return stored !== undefined;
  throw new DefaultShardError(shard.toString(), {
    stored: stored.toString(),
    configured: configured.toString(),
  });
}
