import type { ShardDatabase } from '../sharding/shard-database.js';

/** The instant from which the event history of a shard is complete; undefined: from the beginning. */
export async function readCompleteFrom(database: ShardDatabase): Promise<Date | undefined> {
  const { rows } = await database.query({
    text: 'SELECT max(dropped_until) FROM eventlog.dropped_partitions WHERE table_name = $1',
    values: ['events'],
  });
  const value = rows[0]?.[0];
  return value instanceof Date ? value : undefined;
}
