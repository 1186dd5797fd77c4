import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import type { HealthCheck } from '../health.js';

/** How long one shard may take to answer, in milliseconds. */
const PATIENCE_MS = 1_000;

/** Asks every database of a topology for a sign of life, all at once. */
export function shardHealth(databases: DatabaseRegistry): HealthCheck {
  return () =>
    Promise.all(
      databases.shards().map(async (shard) => {
        const { name } = databases.memberConfig(shard);
        try {
          await databases.database(shard).query({ text: 'select 1', values: [] }, { timeoutMs: PATIENCE_MS });
          return { shard: shard.toString(), name, status: 'up' as const };
        } catch {
          return { shard: shard.toString(), name, status: 'down' as const };
        }
      }),
    );
}
