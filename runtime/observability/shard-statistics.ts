import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { WriterCounts } from '../persistence/write/writer-counters.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import type { PoolStats } from '../sharding/shard-database.js';

/** Statistics of one shard in this process, without a query to its database. */
export interface ShardStatistics {
  readonly shard: ShardIdentifier;
  /** Name of the member. */
  readonly name: string;
  /** False while this process has not put the shard into service. */
  readonly isServed: boolean;
  /** Maximum connections of its pool. */
  readonly maximumConnections: number;
  readonly pool: PoolStats;
  /** Number of plans that wait to be sent. */
  readonly queued: number;
  /** Writes since the process began to use the shard. */
  readonly written: WriterCounts;
  /** Reads that its replica has not served, by reason; undefined without a replica. */
  readonly replicaSkips: Readonly<Record<string, number>> | undefined;
}

/** The writers of the used shards. */
export interface WriterSource {
  readonly used: readonly ShardIdentifier[];
  gateway(shard: ShardIdentifier): {
    readonly writer: { readonly queued: number; readonly counters: WriterCounts };
  };
  /** Undefined: no reads go to replicas. */
  readonly replicas?: { skips(shard: ShardIdentifier): Readonly<Record<string, number>> };
}

const NOTHING_WRITTEN: WriterCounts = { statements: 0, plans: 0, folded: 0, splits: 0 };

/** For a process that writes no plans. */
export const NO_WRITERS: WriterSource = {
  used: [],
  gateway: () => ({ writer: { queued: 0, counters: NOTHING_WRITTEN } }),
};

/** Statistics of all shards. Opens no database. */
export function shardStatistics(
  databases: Pick<DatabaseRegistry, 'shards' | 'memberConfig' | 'database' | 'withheld'>,
  writers: WriterSource,
): readonly ShardStatistics[] {
  const used = new Set(writers.used);
  return databases.shards().map((shard) => {
    const { name, primary, secondary } = databases.memberConfig(shard);
    const writer = used.has(shard) ? writers.gateway(shard).writer : undefined;
    return {
      shard,
      name,
      isServed: databases.withheld(shard) === undefined,
      maximumConnections: primary.maximumPoolSize,
      pool: databases.database(shard).stats(),
      queued: writer?.queued ?? 0,
      written: writer?.counters ?? NOTHING_WRITTEN,
      replicaSkips: secondary && writers.replicas?.skips(shard),
    };
  });
}
