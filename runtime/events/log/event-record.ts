import type { JsonObject } from '../../domain/json.js';

/** A place in a shard's log. The order is (epoch, transaction id, position), not the position alone. */
export interface LogCursor {
  /** Transaction ids of different epochs cannot be compared: see `rebase`. */
  readonly epoch: number;
  /** An `xid8` as text. */
  readonly transactionId: string;
  readonly position: number;
}

/** True for two cursors of one place. */
export function isSamePlace(one: LogCursor, other: LogCursor): boolean {
  const { epoch, transactionId, position } = one;
  return epoch === other.epoch && transactionId === other.transactionId && position === other.position;
}

/** The action that an event comes from, as the audit trail knows it. */
export interface SourceAction {
  readonly name: string;
  readonly principal: string;
  /** The principal's claims; null for none. Absent in dead letters of earlier versions. */
  readonly claims?: JsonObject | null;
  /** Without fields marked as secret; null where params are not stored. */
  readonly params: JsonObject | null;
}

/** One event of the outbox as delivery reads it. Plain data: also what a dead letter keeps. */
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
  /** Null if its row is gone (retention). */
  readonly action: SourceAction | null;
}

/** One key per model: events under one key are handled in order. */
export function modelKeyOf({ modelName, modelId }: Pick<LoggedEvent, 'modelName' | 'modelId'>): string {
  return `${modelName}/${modelId}`;
}

/** The model that a key stands for. A model's name holds no slash. */
export function modelOfKey(key: string): Pick<LoggedEvent, 'modelName' | 'modelId'> {
  const slash = key.indexOf('/');
  return { modelName: key.slice(0, slash), modelId: key.slice(slash + 1) };
}
