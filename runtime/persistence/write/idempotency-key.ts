import type { JsonValue } from '../../domain/json.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';

/** Identifies one request until it is purged. */
export interface KeyName {
  readonly principal: string;
  /** The action's stable name. */
  readonly operation: string;
  /** 1..255 visible characters, chosen by the caller. */
  readonly key: string;
}

/** A key that a plan claims in its transaction. */
export interface KeyClaim extends KeyName {
  /** Hash of action and params, by which another request under the same key is refused. */
  readonly fingerprint: string;
  /** The shard on which the plan commits. */
  readonly target: ShardIdentifier;
  /** How long the key is kept, by the clock of its database. */
  readonly keepMs: number;
  /** JSON text; absent in a row that only names the target (on a home that is another shard). */
  readonly result: string | undefined;
}

/** A row of `eventlog.idempotency_keys`. */
export interface KeyRecord {
  readonly fingerprint: string;
  readonly actionId: string;
  readonly target: ShardIdentifier;
  /** Undefined in a row that only names the target. */
  readonly result: JsonValue | undefined;
  readonly expired: boolean;
}

/** Name of the constraint that a repeated key violates. */
export const KEY_CONSTRAINT = 'idempotency_keys_pkey';
