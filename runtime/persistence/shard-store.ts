import type { NaturalKey } from '../domain/descriptor.js';
import type { Entity, ModelDescriptor } from '../domain/entity.js';
import type { CallOptions } from '../sharding/shard-database.js';
import type { AttemptOutcome } from './attempt-outcome.js';
import type { KeyClaim, KeyName, KeyRecord } from './write/idempotency-key.js';
import type { ActionRow, PlanWrite } from './write/plan-write.js';

/** Plans that one transaction applies together or not at all, in their order of dependency. */
export type WriteGroup = readonly PlanWrite[];

/**
 * What a flush does at a row that another transaction has locked. `wait`: waits for it, up to the session's lock
 * time-out. `skip`: leaves out its group, so that one blocked row does not delay the other groups. `refuse`: fails at once.
 */
export type LockedRows = 'wait' | 'skip' | 'refuse';

/**
 * Several groups of plans for one statement. No two groups change the same row; two groups may both only check its
 * version.
 */
export interface FlushRequest {
  readonly groups: readonly WriteGroup[];
  readonly locked: LockedRows;
  /**
   * Maximum total length of the values of several groups, in characters. A larger flush is refused. Default: no limit.
   */
  readonly maximumCharacters?: number;
}

/** The groups of a flush are too large for one statement. No statement was sent. */
export class OversizedFlush extends Error {
  override readonly name: string = 'OversizedFlush';
}

/**
 * The outcome of one group.
 *
 * - `applied`: committed with all its rows.
 * - `left-out`: not applied, because a version no longer matched, a row was locked (only with `skip`) or the action was
 *   fenced. If a flush has several groups, a fenced action fails the statement instead.
 */
export type FlushOutcome = 'applied' | 'left-out';

/** An attempt as the audit trail of a shard records it. */
export interface RecordedAttempt {
  /** Undefined if the audit trail has no row of the attempt. */
  readonly outcome: AttemptOutcome | undefined;
  /** The instant from which the audit trail is complete. Undefined: from the beginning. */
  readonly completeFrom: Date | undefined;
}

/** The port between execution and SQL: all operations of an executor on one shard. */
export interface ShardStore {
  /**
   * Applies groups in one statement and one transaction. The outcomes have the order of the groups.
   *
   * @throws DriverFailure
   * @throws OversizedFlush for several groups that must be sent in parts
   */
  flush(request: FlushRequest, options?: CallOptions): Promise<readonly FlushOutcome[]>;
  /** The stored models with these ids, in no particular order; missing ones are left out. @throws DriverFailure */
  read<M extends Entity>(
    model: ModelDescriptor<M>,
    ids: readonly string[],
    options?: CallOptions,
  ): Promise<readonly M[]>;
  /**
   * The stored models that hold these keys and are in no deleted state, in no particular order.
   *
   * @param keys the texts of each key, as a JSON list; without duplicates @throws DriverFailure
   */
  readByKey<M extends Entity>(
    model: ModelDescriptor<M>,
    key: NaturalKey,
    keys: readonly string[],
    options?: CallOptions,
  ): Promise<readonly M[]>;
  /**
   * Settles an attempt whose reply was lost: if the attempt has no row yet, this writes a `void` row in its place, and
   * the attempt can never be applied. With synchronous replication it returns what the standbys have.
   * @throws DriverFailure
   */
  fence(action: Omit<ActionRow, 'params'>, options?: CallOptions): Promise<AttemptOutcome>;
  /**
   * The outcome of an attempt in the audit trail. Read-only. With synchronous replication it returns what the standbys
   * have.
   * @throws DriverFailure
   */
  readAttempt(actionId: string, options?: CallOptions): Promise<RecordedAttempt>;
  /**
   * The record of a key on this shard. With synchronous replication it returns what the standbys have.
   * @throws DriverFailure
   */
  readKey(name: KeyName, options?: CallOptions): Promise<KeyRecord | undefined>;
  /**
   * Stores the target of a plan that runs on another shard. An existing claim for the same request and target is
   * shared, and no longer belongs to a single attempt. An expired claim is replaced. False if the key is bound to
   * another request or target.
   * @throws DriverFailure
   */
  claimKey(claim: KeyClaim, actionId: string, options?: CallOptions): Promise<boolean>;
  /** Deletes a key that belongs to this attempt or has expired. */
  releaseKey(name: KeyName, actionId: string | undefined, options?: CallOptions): Promise<void>;
  /** Deletes at most `limit` expired keys. Returns their number. @throws DriverFailure */
  purgeKeys(limit: number, options?: CallOptions): Promise<number>;
}
