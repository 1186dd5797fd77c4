import { randomBytes } from 'node:crypto';
import type { Id } from '../../domain/id.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { ValidationError } from '../../errors.js';
import { readCompleteFrom } from '../../retention/complete-from.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { rebuildSchema } from '../delivery/rebuild.js';
import { type ReplayOrder, writeReplay } from '../delivery/replay-order.js';
import type { LogCursor } from '../log/event-record.js';

/** The start of a replay. It ends at the handler's current checkpoint. */
export type ReplayFrom =
  | { readonly time: Date }
  /** A value of the column `position` of one shard's outbox. */
  | { readonly position: number }
  /** All events of one model. */
  | { readonly model: Id<unknown> };

/** How a replay runs. */
export interface ReplayOptions {
  /**
   * Also repeat the actions that the handler starts, once per replay. Default: they return their first results. A
   * transactional handler requires it, because every one of its writes is applied a second time.
   */
  readonly again?: boolean;
}

/** A handler that has a checkpoint on a shard. */
export interface ReplayableHandler {
  readonly handler: string;
  /** Its original name. */
  readonly identity: string;
  readonly checkpoint: LogCursor;
  /** Whether its writes are part of the transaction that moves its checkpoint. */
  readonly transactional: boolean;
}

/** Undefined if the handler has never run on this shard. */
export async function readReplayable(
  database: ShardDatabase,
  handler: string,
): Promise<ReplayableHandler | undefined> {
  const { rows } = await database.query({ text: HANDLER, values: [handler] });
  const [row] = rows;
  if (row === undefined) return undefined;
  const [identity, epoch, transactionId, position, transactional] = row;
  const checkpoint = {
    epoch: Number(epoch),
    transactionId: String(transactionId),
    position: Number(position),
  };
  return { handler, identity: String(identity), checkpoint, transactional: transactional === true };
}

/**
 * Creates a replay on one shard. It is a separate consumer beside the handler's, stored in the database like it.
 *
 * @returns its name, or undefined if there are no events to replay
 */
export async function orderReplay(
  database: ShardDatabase,
  { handler, identity, checkpoint }: ReplayableHandler,
  from: ReplayFrom,
  { again = false }: ReplayOptions,
): Promise<string | undefined> {
  if (checkpoint.position <= 0 && checkpoint.transactionId === '0') return undefined;
  const number = randomBytes(4).toString('hex');
  return order(database, number, {
    handler,
    identity,
    again: again ? `again-${number}` : undefined,
    selection: { ...selectionOf(from), until: checkpoint },
  });
}

/** @throws ValidationError if a rebuild is under way, the handler is not transactional, or events have been deleted */
export async function checkRebuild(
  database: ShardDatabase,
  { handler, transactional }: ReplayableHandler,
): Promise<void> {
  if (!transactional)
    throw new ValidationError(`${handler} is not transactional: only its declared projection can be rebuilt`);
  const shard = `shard ${database.shard}`;
  const completeFrom = await readCompleteFrom(database);
  if (completeFrom !== undefined)
    throw new ValidationError(
      `Events of ${shard} before ${completeFrom.toISOString()} have been deleted by retention: a rebuild needs all`,
    );
  const [underWay] = await readRebuilds(database, handler);
  if (underWay !== undefined)
    throw new ValidationError(
      `${underWay.name} of ${shard} is under way: see fw-gen events rebuild ${handler} --follow`,
    );
}

/**
 * Creates the rebuild of a handler's projection on one shard: a replay without an end, which replaces the projection
 * once it has caught up. @returns its name
 */
export async function orderRebuild(
  database: ShardDatabase,
  { handler, identity }: ReplayableHandler,
): Promise<string> {
  const number = randomBytes(4).toString('hex');
  return order(database, number, { handler, identity, again: undefined, rebuild: true, selection: {} });
}

/** How far a rebuild is. */
export interface RebuildProgress {
  readonly shard: ShardIdentifier;
  /** Name of its consumer: that of its dead letters. */
  readonly name: string;
  /** Position in the log that it has reached. */
  readonly position: number;
  /** Position of the last event. */
  readonly end: number;
  /** Why it does not go on; undefined if it does. */
  readonly waitingFor: string | undefined;
}

/** The rebuilds of a handler that are under way on one shard: at most one. */
export async function readRebuilds(
  database: ShardDatabase,
  handler: string,
): Promise<readonly RebuildProgress[]> {
  const { rows } = await database.query({ text: PROGRESS, values: [handler] });
  return rows.map(([name, position, end, waitingFor]) => ({
    shard: database.shard,
    name: String(name),
    position: Number(position),
    end: Number(end),
    waitingFor: waitingFor === null ? undefined : String(waitingFor),
  }));
}

/** Ends the rebuilds of a handler that are under way. @returns their number */
export async function abandonRebuilds(database: ShardDatabase, handler: string): Promise<number> {
  const { rows } = await database.query({ text: ABANDON, values: [handler] });
  for (const [name] of rows)
    await database.query({
      text: `DROP SCHEMA IF EXISTS ${rebuildSchema(String(name))} CASCADE`,
      values: [],
    });
  return rows.length;
}

async function order(
  database: ShardDatabase,
  number: string,
  { handler, ...replay }: ReplayOrder & { readonly handler: string },
): Promise<string> {
  const name = `${handler}#${number}`;
  await database.query({ text: ORDER, values: [name, handler, writeReplay(replay)] });
  return name;
}

/** @throws ValidationError for an invalid date or position */
export function checkReplayFrom(from: ReplayFrom): void {
  if ('time' in from && Number.isNaN(from.time.getTime())) {
    throw new ValidationError('A replay needs a valid start date', { field: 'time' });
  }
  if ('position' in from && !(Number.isSafeInteger(from.position) && from.position >= 0)) {
    throw new ValidationError('A position is an integer of at least 0', { field: 'position' });
  }
}

function selectionOf(from: ReplayFrom): Omit<ReplayOrder['selection'], 'until'> {
  if ('time' in from) return { fromDate: from.time.toISOString() };
  if ('position' in from) return { fromPosition: from.position };
  return { model: { name: from.model.modelName, id: from.model.getValue() } };
}

const HANDLER =
  "SELECT identity, epoch, transaction_id, position, 'transactional' = ANY (selects) FROM eventlog.consumers " +
  "WHERE name = $1 AND kind = 'live'";

const IS_REBUILD = `handler = $1 AND kind = 'replay' AND finished_date IS NULL AND replay @> '{"rebuild": true}'`;

const PROGRESS = `SELECT name, position, (SELECT coalesce(max(position), 0) FROM eventlog.events),
  coalesce('halted: ' || halted, waiting_for,
    (SELECT 'dead letters' FROM eventlog.dead_letters AS d WHERE d.consumer = c.name AND state <> 'discarded' LIMIT 1))
FROM eventlog.consumers AS c WHERE ${IS_REBUILD}`;

/** Without its row, a process that holds the lease cannot commit. The dead letters go with it. */
const ABANDON = `DELETE FROM eventlog.consumers WHERE ${IS_REBUILD} RETURNING name`;

const ORDER =
  'INSERT INTO eventlog.consumers (name, handler, kind, identity, epoch, transaction_id, position, replay) ' +
  "VALUES ($1, $2, 'replay', $1, 1, '0', 0, $3)";
