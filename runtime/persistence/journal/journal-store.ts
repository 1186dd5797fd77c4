import type { JsonValue } from '../../domain/json.js';
import type { CallOptions } from '../../sharding/shard-database.js';
import type { AttemptOutcome } from '../attempt-outcome.js';

/** What the first shard transaction of a cross-shard plan takes along into its transaction. */
export interface JournalOpening {
  /** All shard transactions, the first one included: see `partsToJson`. */
  readonly parts: string;
  /** Time for which the execution itself leases the entry, in milliseconds. */
  readonly holdMs: number;
}

/** A row of `eventlog.journal`. */
export interface JournalRow {
  /** Action id of the first shard transaction, on whose shard the entry lies. */
  readonly id: string;
  readonly actionName: string;
  readonly principal: string;
  readonly startedDate: Date;
  readonly state: 'open' | 'flagged' | 'closed';
  readonly note: string | undefined;
  /** End of its lease; undefined if it is not leased. */
  readonly leasedUntil: Date | undefined;
  readonly parts: JsonValue;
  /** Attempts to finish it that have failed. */
  readonly attempts: number;
  /** Why the last of them has. */
  readonly lastError: string | undefined;
}

/** What the journal of one shard holds. */
export interface JournalSurvey {
  /** Entries that are neither closed nor flagged nor leased. */
  readonly open: number;
  readonly flagged: number;
  /** Of the open ones those that may be finished now, the oldest first. */
  readonly due: readonly { readonly id: string; readonly actionName: string }[];
}

/** How an entry was closed: with every shard transaction applied, or with the missing ones reported to its caller. */
export type JournalEnd = 'applied' | 'partial';

/** Everything that the cross-shard journal asks of one shard. Each method is one statement, one transaction. */
export interface JournalStore {
  /** Entries that are not closed, oldest first. @throws DriverFailure */
  list(limit: number, options?: CallOptions): Promise<readonly JournalRow[]>;
  /** @throws DriverFailure */
  read(id: string, options?: CallOptions): Promise<JournalRow | undefined>;
  /**
   * The entry, for `owner` alone; undefined if it is closed, unknown or leased by another owner. @throws DriverFailure
   */
  lease(id: string, owner: string, holdMs: number, options?: CallOptions): Promise<JournalRow | undefined>;
  /** False if the entry is not `owner`'s any more. @throws DriverFailure */
  close(id: string, owner: string, end: JournalEnd, options?: CallOptions): Promise<boolean>;
  /** Keeps a note with the entry and gives it back. False if it is not `owner`'s any more. @throws DriverFailure */
  flag(id: string, owner: string, note: string, options?: CallOptions): Promise<boolean>;
  /** The number of open entries, and at most `limit` due ones. @throws DriverFailure */
  survey(limit: number, options?: CallOptions): Promise<JournalSurvey>;
  /**
   * Notes a failed attempt and gives the entry back. The next one is due after a pause that doubles. @throws
   * DriverFailure
   */
  failed(id: string, owner: string, message: string, options?: CallOptions): Promise<void>;
  /** Makes an entry due, flagged or not. False if it is closed or unknown. @throws DriverFailure */
  request(id: string, options?: CallOptions): Promise<boolean>;
  /** Gives an entry back. @throws DriverFailure */
  release(id: string, owner: string, options?: CallOptions): Promise<void>;
  /** What has become of attempts on this shard so far; those without a row are left out. @throws DriverFailure */
  outcomes(actionIds: readonly string[], options?: CallOptions): Promise<ReadonlyMap<string, AttemptOutcome>>;
  /**
   * Deletes at most `limit` entries that were closed as applied more than `retentionMs` ago. Returns their number.
   * @throws DriverFailure
   */
  purge(limit: number, retentionMs: number, options?: CallOptions): Promise<number>;
}
