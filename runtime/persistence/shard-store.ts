import type { NaturalKey } from '../domain/descriptor.js';
import type { Entity, ModelDescriptor } from '../domain/entity.js';
import type { DriverFailure } from '../sharding/driver-failure.js';
import type { CallOptions } from '../sharding/shard-database.js';
import type { AttemptOutcome } from './attempt-outcome.js';
import type { KeyClaim, KeyName, KeyRecord } from './write/idempotency-key.js';
import type { ActionRow, PlanWrite } from './write/plan-write.js';

/** Plans that are applied together or not at all, in the order in which they follow one another. */
export type WriteGroup = readonly PlanWrite[];

/**
 * Several groups of plans for one statement. No two groups touch one row, unless both only expect one version of it.
 */
export interface FlushRequest {
  readonly groups: readonly WriteGroup[];
  /**
   * `wait`: a row that is locked is waited for (up to the session's lock time-out). `skip`: a group with a locked row
   * is left out, so that one stuck row does not hold up its neighbours.
   */
  readonly locked: 'wait' | 'skip';
  /** Several groups whose values have more characters are not sent. Default: no limit. */
  readonly maximumCharacters?: number;
}

/** The groups of a flush are too large for one statement. Nothing was sent. */
export class OversizedFlush extends Error {
  override readonly name: string = 'OversizedFlush';
}

/**
 * The outcome of one group. `applied`: committed, with all its rows. `left-out`: not applied, because a version no
 * longer matched, a row was locked (only with `skip`) or the action had been fenced. A fenced action among others fails
 * the statement instead. An error: not applied, because the database refuses the group by itself.
 */
export type FlushOutcome = 'applied' | 'left-out' | DriverFailure;

/** An attempt as the audit trail of a shard knows it. */
export interface Recalled {
  /** Undefined if it has no row of the attempt. */
  readonly outcome: AttemptOutcome | undefined;
  /** The time from which it has all attempts. Undefined: from the beginning. */
  readonly completeFrom: Date | undefined;
}

/** The port between execution and SQL: everything that an executor asks of one shard. */
export interface ShardStore {
  /**
   * One statement, one transaction. Outcomes stand in the order of the groups.
   *
   * @throws DriverFailure @throws OversizedFlush for several groups that are to be sent in parts
   * @throws FoldingOutdated for a group of several plans that have to be sent one after the other
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
   * @param keys the texts of each key, as a JSON list; no two of them equal @throws DriverFailure
   */
  readByKey<M extends Entity>(
    model: ModelDescriptor<M>,
    key: NaturalKey,
    keys: readonly string[],
    options?: CallOptions,
  ): Promise<readonly M[]>;
  /**
   * Settles an attempt whose reply was lost: unless its row is there, a `void` row is put in its place, and then the
   * attempt can never be applied. With synchronous replication it answers what the standbys have. @throws DriverFailure
   */
  fence(action: Omit<ActionRow, 'params'>, options?: CallOptions): Promise<AttemptOutcome>;
  /**
   * The outcome of an attempt in the audit trail; with synchronous replication only what the standbys have. Changes
   * nothing. @throws DriverFailure
   */
  recall(actionId: string, options?: CallOptions): Promise<Recalled>;
  /** What is known about a key here; with synchronous replication only what the standbys have. @throws DriverFailure */
  readKey(name: KeyName, options?: CallOptions): Promise<KeyRecord | undefined>;
  /**
   * Stores the target of a plan that goes to another shard. An existing claim for the same request and target is
   * shared, and belongs to no attempt from then on. An expired claim is replaced. False if the key is bound to another
   * request or target.
   * @throws DriverFailure
   */
  claimKey(claim: KeyClaim, actionId: string, options?: CallOptions): Promise<boolean>;
  /** Forgets a key if it is this attempt's own, or if it has expired. @throws DriverFailure */
  releaseKey(name: KeyName, actionId: string | undefined, options?: CallOptions): Promise<void>;
  /** Deletes at most `limit` expired keys. Returns their number. @throws DriverFailure */
  purgeKeys(limit: number, options?: CallOptions): Promise<number>;
}
