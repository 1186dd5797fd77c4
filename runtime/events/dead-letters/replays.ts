import { randomBytes } from 'node:crypto';
import type { Id } from '../../domain/id.js';
import { ValidationError } from '../../errors.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
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
  const order: ReplayOrder = {
    identity,
    again: again ? `again-${number}` : undefined,
    selection: { ...selectionOf(from), until: checkpoint },
  };
  const name = `${handler}#${number}`;
  await database.query({ text: ORDER, values: [name, handler, writeReplay(order)] });
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

const ORDER =
  'INSERT INTO eventlog.consumers (name, handler, kind, identity, epoch, transaction_id, position, replay) ' +
  "VALUES ($1, $2, 'replay', $1, 1, '0', 0, $3)";
