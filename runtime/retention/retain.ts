import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { DatabaseError, ValidationError } from '../errors.js';
import { databaseTime } from '../sharding/database-time.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { readCompleteFrom } from './complete-from.js';
import { DELETED_AT_ONCE, type DroppedPartitions, dropPartitions } from './drop-partitions.js';
import { purgeOwnKeys } from './handler-keys.js';
import { makePartitions } from './make-partitions.js';
import { openActions } from './needs.js';
import { DAY_MS, idFloor, readPartitions } from './partitions.js';
import { purgeSagas } from './saga-records.js';
import { statementsOn } from './short-transaction.js';

/** Retention times. */
export interface RetentionOptions {
  /**
   * Minimum age of deleted rows, in days: 1 or more. Default: nothing is deleted; partitions are still created in
   * advance.
   */
  readonly keepDays?: number | undefined;
  /** Time that one partition covers, in days. Default 7. */
  readonly partitionDays?: number;
  /** Partitions that are created before they are needed. Default 4. */
  readonly ahead?: number;
}

/** The result on one shard. */
export interface RetentionReport {
  readonly shard: ShardIdentifier;
  readonly created: readonly string[];
  readonly dropped: readonly string[];
  /** Partitions that stay although they are old enough or too large, each with the reason. */
  readonly kept: readonly { readonly partition: string; readonly reason: string }[];
  /** Deleted keys of handlers' and scheduled actions whose events or schedules are gone. */
  readonly deletedKeys: number;
  /** Deleted scheduled actions that ended long ago. */
  readonly deletedSchedules: number;
  /** Deleted records of sagas of this shard that ended long ago, and of their steps on all shards. */
  readonly deletedSagas: number;
  readonly deletedSagaSteps: number;
  /** Shards that did not answer: rows that may belong to them are kept. */
  readonly unreachable: readonly ShardIdentifier[];
  /** The event history is complete from this time on; undefined: from the beginning. */
  readonly completeFrom: Date | undefined;
}

/** A shard and the shards to which its rows may refer. */
export interface RetentionPlace {
  readonly database: ShardDatabase;
  /** All shards, including this one. */
  readonly all: readonly ShardDatabase[];
}

/** How one run differs from that of an operator. */
export interface RetentionRun {
  /** Time by which the age is measured. Default: that of the database. */
  readonly time?: Date;
  /** See `PartitioningOptions`. */
  readonly largestScanBytes?: number;
}

/** A hundred years. */
const MOST_DAYS = 36_500;
const MOST_AHEAD = 1_000;

/** @throws ValidationError for invalid options */
export function checkRetention({ keepDays = 1, partitionDays = 1, ahead = 1 }: RetentionOptions): void {
  const isRight = (value: number, least: number, most: number) => value >= least && value <= most;
  const areDays = isRight(keepDays, 1, MOST_DAYS) && isRight(partitionDays, Number.MIN_VALUE, MOST_DAYS);
  if (areDays && isRight(ahead, 1, MOST_AHEAD)) return;
  throw new ValidationError(
    `keepDays must be from 1 to ${MOST_DAYS}, partitionDays above 0 and at most ${MOST_DAYS}, and ahead from 1 to ${MOST_AHEAD}`,
  );
}

/**
 * Creates future partitions on one shard, and deletes rows that are older than the given age and no longer needed. Rows
 * are deleted only under these conditions:
 *
 * - a partition of the outbox: every checkpoint, including those of replays, and every logical replication slot has
 *   passed all of its rows, and none of its rows is younger than a day;
 * - actions: their events are gone, and no open cross-shard plan refers to them;
 * - keys of handlers: their events are gone from the log of their own shard, and no dead letter can be retried;
 * - records of sagas: the saga has ended, and the records of its steps are deleted on all shards.
 *
 * Needs the rights of the tables' owner.
 *
 * @throws ValidationError for invalid options @throws DatabaseError for a role that does not own the tables
 */
export async function retain(
  { database, all }: RetentionPlace,
  options: RetentionOptions,
  { time, largestScanBytes }: RetentionRun = {},
): Promise<RetentionReport> {
  checkRetention(options);
  const now = time ?? (await databaseTime(database));
  const { keepDays } = options;
  const states = await readPartitions(statementsOn(database));
  if (!states.every(({ owned }) => owned))
    throw new DatabaseError(
      `This role does not own eventlog.events and eventlog.actions on shard ${database.shard}. Run retention as their owner.`,
      {},
    );
  const { created, skipped } = await makePartitions(database, { ...options, now, largestScanBytes });
  const none = { deletedKeys: 0, deletedSchedules: 0, deletedSagas: 0, deletedSagaSteps: 0 };
  const report = { shard: database.shard, created, dropped: [], kept: skipped, ...none, unreachable: [] };
  if (keepDays === undefined) return { ...report, completeFrom: await readCompleteFrom(database) };
  const limitMs = now.getTime() - keepDays * DAY_MS;
  const dropping = { limitMs, openActions: await openActions(all) };
  const partitions: DroppedPartitions[] = [];
  for (const state of states) partitions.push(await dropPartitions(database, state, dropping));
  const deletedSchedules = await purgeSchedules(database, limitMs);
  const keys = await purgeOwnKeys(database, all, limitMs);
  const sagas = await purgeSagas(database, all, limitMs);
  return {
    ...{ ...report, ...keys, ...sagas },
    dropped: partitions.flatMap(({ dropped }) => dropped),
    kept: [...skipped, ...partitions.flatMap(({ kept }) => kept)],
    deletedSchedules,
    unreachable: [...new Set([...keys.unreachable, ...sagas.unreachable])],
    completeFrom: await readCompleteFrom(database),
  };
}

/** Deletes scheduled actions that ended long ago, some in each transaction, because a running one delays delivery. */
async function purgeSchedules(database: ShardDatabase, limitMs: number): Promise<number> {
  const limit = new Date(limitMs).toISOString();
  let deleted = 0;
  let after = idFloor(0);
  for (;;) {
    const { rows } = await statementsOn(database)(DELETE_SCHEDULES, [limit, after, DELETED_AT_ONCE]);
    const [count, last] = rows[0] ?? [];
    deleted += Number(count);
    if (Number(count) < DELETED_AT_ONCE) return deleted;
    after = String(last);
  }
}

/** A failed action may be retried, so it stays. */
const DELETE_SCHEDULES = `WITH old AS (SELECT id FROM eventlog.schedules
  WHERE state IN ('done', 'cancelled') AND completed_date < $1 AND id > $2 ORDER BY id LIMIT $3),
gone AS (DELETE FROM eventlog.schedules AS s USING old WHERE s.id = old.id RETURNING s.id::text)
SELECT count(*), max(id) FROM gone`;
