import type { ShardingTopology } from '../config/types.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { LEFT_OUT_ADVICE, leftOut, leftOutShards } from '../sharding/known-shards.js';
import { type Finding, fault } from './finding.js';

/** Checks whether this file leaves out a shard that was served before. */
export async function checkLeftOutShards(
  { defaultShard }: ShardingTopology,
  databases: DatabaseRegistry,
): Promise<readonly Finding[]> {
  try {
    const shards = await leftOutShards(databases.database(defaultShard), databases.shards());
    return shards.map((shard) => ({
      subject: shard.toString(),
      ...fault('configured', leftOut(shard), LEFT_OUT_ADVICE),
    }));
  } catch {
    // Other checks report an unreachable database or a missing table.
    return [];
  }
}
