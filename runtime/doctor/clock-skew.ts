import { time } from '../concurrency/time.js';
import { databaseTime } from '../sharding/database-time.js';
import type { ShardDatabase } from '../sharding/shard-database.js';

/**
 * Milliseconds by which the clock of this process is ahead of a database's; negative: behind. 0 if the difference is
 * smaller than the round trip, which may not be skew.
 */
export async function clockSkewMs(database: Pick<ShardDatabase, 'query'>): Promise<number> {
  const before = time.dateMs();
  const theirs = (await databaseTime(database)).getTime();
  const after = time.dateMs();
  return before > theirs ? before - theirs : Math.min(0, after - theirs);
}
