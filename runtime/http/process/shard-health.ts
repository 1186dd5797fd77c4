import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { messageOf } from '../../errors.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import type { HealthCheck, ShardHealth } from '../health.js';

/** How long one shard may take to answer, in milliseconds. */
const PATIENCE_MS = 1_000;

/** Queries every database of a topology concurrently. */
export function shardHealth(databases: DatabaseRegistry): HealthCheck {
  return () => Promise.all(databases.shards().map((shard) => healthOf(databases, shard)));
}

async function healthOf(databases: DatabaseRegistry, shard: ShardIdentifier): Promise<ShardHealth> {
  const { name } = databases.memberConfig(shard);
  const subject = { shard: shard.toString(), name };
  const withheld = databases.withheld(shard);
  if (withheld !== undefined) return { ...subject, status: 'down', reason: withheld };
  try {
    await databases.database(shard).query({ text: 'select 1', values: [] }, { timeoutMs: PATIENCE_MS });
    return { ...subject, status: 'up' };
  } catch (error) {
    return { ...subject, status: 'down', reason: messageOf(error) };
  }
}
