import type { JsonValue } from '../../domain/json.js';
import type { CallOptions } from '../../sharding/shard-database.js';
import type { AttemptOutcome } from '../attempt-outcome.js';

/** The journal entry that the first shard transaction of a cross-shard plan writes. */
export interface JournalOpening {
  /** All shard transactions as JSON text, including the first: see `partsToJson`. */
  readonly parts: string;
  /** Time for which the execution leases the entry, in milliseconds. */
  readonly holdMs: number;
}

/** A row of `eventlog.journal`. */
export interface JournalRow {
  /** Action id of the first shard transaction. The entry is stored on its shard. */
  readonly id: string;
  readonly actionName: string;
  readonly principal: string;
  readonly startedDate: Date;
  readonly state: 'open' | 'flagged' | 'closed';
  readonly note: string | undefined;
  /** End of its lease; undefined if it is not leased. */
  readonly leasedUntil: Date | undefined;
  readonly parts: JsonValue;
  /** Failed attempts to finish the entry. */
  readonly attempts: number;
  /** Error message of the last failed attempt. */
  readonly lastError: string | undefined;
}

/** What the journal of one shard holds. */
export interface JournalSurvey {
  /** Number of entries that are neither closed nor flagged nor leased. */
  readonly open: number;
  readonly flagged: number;
  /** The open entries that may be finished now, oldest first. */
  readonly due: readonly { readonly id: string; readonly actionName: string }[];
}

/**
 * How an entry was closed: `applied` if every shard transaction was applied, `partial` if the caller was informed of
 * the missing ones.
 */
export type JournalEnd = 'applied' | 'partial';

/** All queries of the cross-shard journal on one shard. Each method is one statement and one transaction. */
export interface JournalStore {
  /** Entries that are not closed, oldest first. @throws DriverFailure */
  list(limit: number, options?: CallOptions): Promise<readonly JournalRow[]>;
  /** @throws DriverFailure */
  read(id: string, options?: CallOptions): Promise<JournalRow | undefined>;
  /**
   * Leases the entry to `owner`. Undefined if it is closed, unknown or leased by another owner.
   * @throws DriverFailure
   */
  lease(id: string, owner: string, holdMs: number, options?: CallOptions): Promise<JournalRow | undefined>;
  /** Closes the entry. False if `owner` no longer holds the lease. @throws DriverFailure */
  close(id: string, owner: string, end: JournalEnd, options?: CallOptions): Promise<boolean>;
  /**
   * Stores a note with the entry and releases its lease. False if `owner` no longer holds the lease.
   * @throws DriverFailure
   */
  flag(id: string, owner: string, note: string, options?: CallOptions): Promise<boolean>;
  /** The number of open entries, and at most `limit` due ones. @throws DriverFailure */
  survey(limit: number, options?: CallOptions): Promise<JournalSurvey>;
  /**
   * Records a failed attempt and releases the lease. The pause before the next attempt doubles.
   * @throws DriverFailure
   */
  failed(id: string, owner: string, message: string, options?: CallOptions): Promise<void>;
  /** Makes an entry due, flagged or not. False if it is closed or unknown. @throws DriverFailure */
  request(id: string, options?: CallOptions): Promise<boolean>;
  /** Releases the lease of an entry. @throws DriverFailure */
  release(id: string, owner: string, options?: CallOptions): Promise<void>;
  /** The outcomes of attempts on this shard; attempts without a row are left out. @throws DriverFailure */
  outcomes(actionIds: readonly string[], options?: CallOptions): Promise<ReadonlyMap<string, AttemptOutcome>>;
  /**
   * Deletes at most `limit` entries that were closed as applied more than `retentionMs` ago. Returns their number.
   * @throws DriverFailure
   */
  purge(limit: number, retentionMs: number, options?: CallOptions): Promise<number>;
}
