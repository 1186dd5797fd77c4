import type { ShardDatabase } from '../sharding/shard-database.js';

/** The last run of retention on a shard, by any process. */
export interface LastRun {
  /** When it was finished; undefined: never. */
  readonly doneDate: Date | undefined;
  /** Whether another one is due. */
  readonly isDue: boolean;
}

/** @param everyMs minimum time between two runs, in milliseconds */
export async function readLastRun(database: ShardDatabase, everyMs: number): Promise<LastRun> {
  const { rows } = await database.query({ text: LAST, values: [everyMs] });
  const [value, isRecent] = rows[0] ?? [];
  return { doneDate: value instanceof Date ? value : undefined, isDue: isRecent !== true };
}

export async function noteRun(database: ShardDatabase): Promise<void> {
  await database.query({ text: DONE, values: [] });
}

/** A run in the future, before a clock was set back, does not count. */
const LAST = `SELECT done_date, done_date BETWEEN clock_timestamp() - $1::bigint * interval '1 ms' AND clock_timestamp()
FROM eventlog.maintenance WHERE task = 'retention'`;

const DONE = `INSERT INTO eventlog.maintenance (task, done_date) VALUES ('retention', clock_timestamp())
ON CONFLICT (task) DO UPDATE SET done_date = excluded.done_date`;
