import type { ShardDatabase } from '../../sharding/shard-database.js';

/** Resumes a halted consumer. @returns how many were halted: 0 or 1 */
export async function resume(database: ShardDatabase, name: string): Promise<number> {
  const { rowCount } = await database.query({ text: RESUME, values: [name] });
  return rowCount;
}

/**
 * Removes an item from the stored selection of a consumer: events of this class are no longer meant for it.
 * @returns whether it was there
 */
export async function narrow(database: ShardDatabase, name: string, item: string): Promise<boolean> {
  const { rowCount } = await database.query({ text: NARROW, values: [name, item] });
  return rowCount > 0;
}

const NARROW = `UPDATE eventlog.consumers SET selects = array_remove(selects, $2::text), waiting_for = NULL
WHERE name = $1 AND kind = 'live' AND $2 = ANY (selects)`;

const RESUME = 'UPDATE eventlog.consumers SET halted = NULL WHERE name = $1 AND halted IS NOT NULL';
