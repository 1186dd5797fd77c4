import type { EventDelivery } from '../events/delivery/event-delivery.js';
import type { ShardLag } from '../events/log/lag.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { onEachShard, SHARDS_AT_ONCE } from '../sharding/each-shard.js';

/** How far delivery has come on the shards that answer: one that does not hides nothing of the others. */
export async function lagOfShards(
  databases: Pick<DatabaseRegistry, 'shards'>,
  events: Pick<EventDelivery, 'lag'>,
): Promise<readonly ShardLag[]> {
  const outcomes = await onEachShard(databases.shards(), SHARDS_AT_ONCE, (shard) => events.lag(shard));
  return outcomes.flatMap((outcome) => (outcome.ok ? outcome.value : []));
}
