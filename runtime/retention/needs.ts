import { DriverFailure } from '../sharding/driver-failure.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { idFloor, type Partition } from './partitions.js';
import type { Query } from './short-transaction.js';

/** Maximum duration of an action's attempt, so that its events' ids are at most this much later, in milliseconds. */
const LONGEST_ATTEMPT_MS = 60 * 60 * 1_000;

/** Taken until the end of the transaction by what orders a replay, and by what deletes events that no replay needs. */
export const TURN_OF_REPLAYS = "pg_advisory_xact_lock(hashtextextended('fw:replays', 0))";

/** Why rows of the outbox are still needed; undefined if they are not. Read-only. */
export async function eventsNeededBy(query: Query, { name, toMs }: Partition): Promise<string | undefined> {
  const until = idFloor(toMs);
  const consumers = await query(
    `SELECT c.name FROM eventlog.consumers AS c
    WHERE c.kind <> 'schedules' AND c.finished_date IS NULL
      AND (c.epoch < (SELECT max(epoch) FROM eventlog.delivery_epochs)
        OR EXISTS (SELECT FROM eventlog.${name} AS e WHERE (e.transaction_id, e.position) > (c.transaction_id, c.position)
          AND e.id < $1
          AND e.position > (SELECT after_position FROM eventlog.delivery_epochs ORDER BY epoch DESC LIMIT 1)))`,
    [until],
  );
  const [consumer] = consumers.rows;
  if (consumer !== undefined) return `${String(consumer[0])} has not handled all of it`;
  const slots = await query(
    `SELECT s.slot_name FROM pg_replication_slots AS s LEFT JOIN eventlog.partition_marks AS m ON m.partition_name = $1
      WHERE s.slot_type = 'logical' AND s.database = current_database()
        AND (m.lsn IS NULL OR s.confirmed_flush_lsn IS NULL OR s.confirmed_flush_lsn < m.lsn)`,
    [markOf(name, until)],
  );
  const [slot] = slots.rows;
  return slot === undefined ? undefined : `replication slot ${String(slot[0])} has not passed it`;
}

/** Whether rows with old ids were written less than a day ago, by a process whose clock was behind. */
export async function hasYoungRows(query: Query, { name, toMs }: Partition): Promise<boolean> {
  const { rows } = await query(
    `SELECT FROM eventlog.${name} WHERE id < $1 AND created_date > now() - interval '1 day' LIMIT 1`,
    [idFloor(toMs)],
  );
  return rows.length > 0;
}

/**
 * Records the current write-ahead log position for a partition without further inserts: a replication slot must have
 * passed that position. An existing record stays. Without slots none is written.
 */
export async function noteLogPosition(query: Query, { name, toMs }: Partition): Promise<void> {
  await query(
    `INSERT INTO eventlog.partition_marks (partition_name, lsn) SELECT $1, pg_current_wal_lsn()
      WHERE EXISTS (SELECT FROM pg_replication_slots WHERE slot_type = 'logical' AND database = current_database())
      ON CONFLICT DO NOTHING`,
    [markOf(name, idFloor(toMs))],
  );
}

function markOf(name: string, until: string): string {
  return `${name} until ${until}`;
}

/**
 * Whether events of these actions still exist: envelopes and audits refer to the actions. An event is younger than its
 * action, and may be in the next partition.
 */
export async function haveEvents(query: Query, { fromMs, toMs }: Partition): Promise<boolean> {
  const { rows } = await query(
    'SELECT FROM eventlog.events WHERE id >= $1 AND id < $3 AND action_id >= $1 AND action_id < $2 LIMIT 1',
    [idFloor(fromMs), idFloor(toMs), idFloor(toMs + LONGEST_ATTEMPT_MS)],
  );
  return rows.length > 0;
}

/**
 * Actions of open cross-shard plans, on any shard: the journal needs their outcome. Undefined if a shard does not answer.
 */
export async function openActions(
  databases: readonly ShardDatabase[],
): Promise<readonly string[] | undefined> {
  try {
    const asked = databases.map((database) => database.query({ text: OPEN_ACTIONS, values: [] }));
    return (await Promise.all(asked)).flatMap(({ rows }) => rows.map(([id]) => String(id)));
  } catch (error) {
    if (error instanceof DriverFailure) return undefined;
    throw error;
  }
}

const OPEN_ACTIONS = `SELECT part ->> 'actionId' FROM eventlog.journal AS j, jsonb_array_elements(j.parts) AS part
WHERE j.state <> 'closed' AND part ->> 'actionId' IS NOT NULL`;
