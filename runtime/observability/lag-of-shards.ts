import type { EventDelivery } from '../events/event-delivery.js';
import type { ShardLag } from '../events/lag.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { onEachShard, SHARDS_AT_ONCE } from '../sharding/each-shard.js';

/** The delivery lag of the shards that answer; a shard that does not answer does not affect the others. */
export async function lagOfShards(
  databases: Pick<DatabaseRegistry, 'shards'>,
  events: Pick<EventDelivery, 'lag'>,
): Promise<readonly ShardLag[]> {
  const outcomes = await onEachShard(databases.shards(), SHARDS_AT_ONCE, (shard) => events.lag(shard));
  return outcomes.flatMap((outcome) => (outcome.ok ? outcome.value : []));
}
