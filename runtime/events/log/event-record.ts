import type { JsonObject } from '../../domain/json.js';

/** A position in a shard's log. The order is (epoch, transaction id, position), not the position alone. */
export interface LogCursor {
  /** Transaction ids of different epochs cannot be compared: see `rebase`. */
  readonly epoch: number;
  /** An `xid8` as text. */
  readonly transactionId: string;
  readonly position: number;
}

/** Before the first event. */
export const START_OF_LOG: LogCursor = Object.freeze({ epoch: 1, transactionId: '0', position: 0 });

/** The cursor in three columns of a row: epoch, transaction id and position. */
export function toCursor([epoch, transactionId, position]: readonly unknown[]): LogCursor {
  return { epoch: Number(epoch), transactionId: String(transactionId), position: Number(position) };
}

export function isSamePlace(one: LogCursor, other: LogCursor): boolean {
  const { epoch, transactionId, position } = one;
  return epoch === other.epoch && transactionId === other.transactionId && position === other.position;
}

export function isBehind(one: LogCursor, other: LogCursor): boolean {
  if (one.epoch !== other.epoch) return one.epoch < other.epoch;
  const [left, right] = [BigInt(one.transactionId), BigInt(other.transactionId)];
  return left === right ? one.position < other.position : left < right;
}

/** The action that caused an event, as the audit trail stores it. */
export interface SourceAction {
  readonly name: string;
  readonly principal: string;
  /** The principal's claims; null if it has none. Absent in dead letters of earlier versions. */
  readonly claims?: JsonObject | null;
  /** Without secret fields; null if the action's params are not stored. */
  readonly params: JsonObject | null;
}

/** One event of the outbox as delivery reads it. Plain data, which a dead letter stores as JSON. */
export interface LoggedEvent {
  readonly id: string;
  readonly cursor: LogCursor;
  readonly actionId: string;
  readonly namespace: string;
  readonly modelId: string;
  readonly modelName: string;
  readonly modelVersion: number;
  readonly eventType: string;
  readonly eventVersion: number;
  readonly payload: JsonObject;
  /** ISO 8601, UTC. */
  readonly createdDate: string;
  readonly traceContext: string | null;
  /** Null if retention has deleted its row. */
  readonly action: SourceAction | null;
}

/** The key of an event's model: events with the same key are handled in order. */
export function modelKeyOf({ modelName, modelId }: Pick<LoggedEvent, 'modelName' | 'modelId'>): string {
  return `${modelName}/${modelId}`;
}

/** The model of a key. Model names contain no slash. */
export function modelOfKey(key: string): Pick<LoggedEvent, 'modelName' | 'modelId'> {
  const slash = key.indexOf('/');
  return { modelName: key.slice(0, slash), modelId: key.slice(slash + 1) };
}
