import type { ShardDatabase } from './shard-database.js';

/** The present time by the clock of a database, which decides about all times that several processes compare. */
export async function databaseTime(database: Pick<ShardDatabase, 'query'>): Promise<Date> {
  const { rows } = await database.query({ text: 'SELECT clock_timestamp()', values: [] });
  const now = rows[0]?.[0];
  if (now instanceof Date) return now;
  throw new TypeError(`A database has answered ${String(now)} to a question for the time`);
}
