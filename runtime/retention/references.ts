import { shardOfUuid } from '../domain/id.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import type { ShardDatabase } from '../sharding/shard-database.js';

/** The result for rows that refer to other shards. */
export interface Purged {
  readonly deleted: number;
  /** Shards that did not answer: rows that belong to them are kept. */
  readonly unreachable: ReadonlySet<ShardIdentifier>;
}

/** Asks the shards to which rows refer. A shard that does not answer is not asked again. */
export class References {
  readonly unreachable: Set<ShardIdentifier> = new Set();
  readonly #all: readonly ShardDatabase[];

  /** @param all every shard of the topology */
  constructor(all: readonly ShardDatabase[]) {
    this.#all = all;
  }

  /** The ids that the shards to which they belong return. @param question receives the ids of one shard */
  async ask(
    ids: Iterable<string>,
    question: (home: ShardDatabase, ids: readonly string[]) => Promise<readonly string[]>,
  ): Promise<ReadonlySet<string>> {
    const byShard = new Map<ShardIdentifier, string[]>();
    for (const id of new Set(ids)) {
      const shard = shardOfUuid(id);
      const own = byShard.get(shard);
      if (own === undefined) byShard.set(shard, [id]);
      else own.push(id);
    }
    const found = new Set<string>();
    for (const [shard, own] of byShard) {
      const home = this.#all.find((each) => each.shard === shard);
      if (home === undefined || this.unreachable.has(shard)) continue;
      try {
        for (const id of await question(home, own)) found.add(id);
      } catch (error) {
        if (!(error instanceof DriverFailure)) throw error;
        this.unreachable.add(shard);
      }
    }
    return found;
  }
}
