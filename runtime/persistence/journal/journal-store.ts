import type { JsonValue } from '../../domain/json.js';
import { storedText } from '../../domain/storable-text.js';
import { isTooLong, leaseEnd } from '../../sharding/lease-sql.js';
import type { CallOptions, NamedText, ShardDatabase } from '../../sharding/shard-database.js';
import type { AttemptOutcome } from '../attempt-outcome.js';

/** The part of a cross-shard plan that one shard commits. */
interface JournalPart {
  /** As `(group, member)`. */
  readonly shard: string;
  readonly actionId: string;
  /**
   * `committed` and `void` (fenced: it can never be applied) are final. `not-applied`: the shard has no trace of it so
   * far. `unknown`: the shard did not answer, or is not configured.
   */
  readonly status: AttemptOutcome | 'not-applied' | 'unknown';
  /** Its changes: `update Account 0190... from version 3`. */
  readonly changes: readonly string[];
}

/** A cross-shard plan whose caller, as far as the journal shows, has not received the outcome. */
export interface JournalEntry {
  /** The action id of its first shard transaction. */
  readonly id: string;
  readonly actionName: string;
  readonly principal: string;
  readonly startedDate: Date;
  /** `flagged`: it has a note and recovery leaves it alone. `closed`: only `show` returns such entries. */
  readonly state: 'open' | 'flagged' | 'closed';
  readonly note: string | undefined;
  /** End of the lease of the execution itself or of another `finish`. */
  readonly leasedUntil: Date | undefined;
  /** Failed attempts to finish it. */
  readonly attempts: number;
  /** Error message of the last failed attempt. */
  readonly lastError: string | undefined;
  /** In the order in which they are applied. */
  readonly parts: readonly JournalPart[];
}

/** The journal entry that the first shard transaction of a cross-shard plan writes. */
export interface JournalOpening {
  /** All shard transactions as JSON text, including the first: see `partsToJson`. */
  readonly parts: string;
  /** Time for which the execution leases the entry, in milliseconds. */
  readonly holdMs: number;
}

/** A row of `eventlog.journal`. */
export interface JournalRow extends Omit<JournalEntry, 'parts'> {
  readonly parts: JsonValue;
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

/**
 * All queries of the cross-shard journal on one shard. Each method is one statement and one transaction, and throws
 * DriverFailure.
 */
export class JournalStore {
  readonly #database: ShardDatabase;

  constructor(database: ShardDatabase) {
    this.#database = database;
  }

  /** Entries that are not closed, oldest first. */
  async list(limit: number, options?: CallOptions): Promise<readonly JournalRow[]> {
    const { rows } = await this.#database.query({ ...LIST, values: [limit] }, options);
    return rows.map(toRow);
  }

  read(id: string, options?: CallOptions): Promise<JournalRow | undefined> {
    return this.#one(READ, [id], options);
  }

  /** Leases the entry to `owner`. Undefined if it is closed, unknown or leased by another owner. */
  lease(id: string, owner: string, holdMs: number, options?: CallOptions): Promise<JournalRow | undefined> {
    return this.#one(LEASE, [id, owner, Math.ceil(holdMs)], options);
  }

  /** Closes the entry. False if `owner` no longer holds the lease. */
  close(id: string, owner: string, end: JournalEnd, options?: CallOptions): Promise<boolean> {
    return this.#changed(CLOSE, [id, owner, end], options);
  }

  /** Stores a note with the entry and releases its lease. False if `owner` no longer holds the lease. */
  flag(id: string, owner: string, note: string, options?: CallOptions): Promise<boolean> {
    return this.#changed(FLAG, [id, owner, note], options);
  }

  /** The number of open entries, and at most `limit` due ones. */
  async survey(limit: number, options?: CallOptions): Promise<JournalSurvey> {
    const { rows } = await this.#database.query({ ...SURVEY, values: [limit] }, options);
    const [open, flagged, due] = rows[0] ?? [];
    // The statement builds the JSON of `due`.
    return { open: Number(open ?? 0), flagged: Number(flagged ?? 0), due: due as JournalSurvey['due'] };
  }

  /** Records a failed attempt and releases the lease. The pause before the next attempt doubles. */
  async failed(id: string, owner: string, message: string, options?: CallOptions): Promise<void> {
    await this.#changed(FAILED, [id, owner, storedText(message)], options);
  }

  /** Makes an entry due, flagged or not. False if it is closed or unknown. */
  request(id: string, options?: CallOptions): Promise<boolean> {
    return this.#changed(REQUEST, [id], options);
  }

  /** Releases the lease of an entry. */
  async release(id: string, owner: string, options?: CallOptions): Promise<void> {
    await this.#changed(RELEASE, [id, owner], options);
  }

  /** Deletes at most `limit` entries that were closed as applied more than `retentionMs` ago. Returns their number. */
  async purge(limit: number, retentionMs: number, options?: CallOptions): Promise<number> {
    const { rowCount } = await this.#database.query({ ...PURGE, values: [limit, retentionMs] }, options);
    return rowCount;
  }

  async #one(
    text: NamedText,
    values: readonly unknown[],
    options: CallOptions | undefined,
  ): Promise<JournalRow | undefined> {
    const { rows } = await this.#database.query({ ...text, values }, options);
    const [row] = rows;
    return row === undefined ? undefined : toRow(row);
  }

  async #changed(
    text: NamedText,
    values: readonly unknown[],
    options: CallOptions | undefined,
  ): Promise<boolean> {
    const { rowCount } = await this.#database.query({ ...text, values }, options);
    return rowCount > 0;
  }
}

/** An expired lease counts as no lease. */
const COLUMNS =
  'id, action_name, principal, started_date, state, note, parts, attempts, error_message, ' +
  'CASE WHEN lease_expires_date > clock_timestamp() THEN lease_expires_date END';

const LIST: NamedText = {
  name: 'fw_journal_list',
  text: `SELECT ${COLUMNS} FROM eventlog.journal WHERE state <> 'closed' ORDER BY id LIMIT $1`,
};

const READ: NamedText = {
  name: 'fw_journal_read',
  text: `SELECT ${COLUMNS} FROM eventlog.journal WHERE id = $1`,
};

const LEASE: NamedText = {
  name: 'fw_journal_lease',
  text:
    `UPDATE eventlog.journal SET lease_owner = $2, lease_ms = $3::int, lease_expires_date = ${leaseEnd('$3::int')} ` +
    "WHERE id = $1 AND state <> 'closed' " +
    'AND (lease_owner IS NULL OR lease_owner = $2 OR lease_expires_date <= clock_timestamp()) ' +
    `RETURNING ${COLUMNS}`,
};

const CLOSE: NamedText = {
  name: 'fw_journal_close',
  text:
    "UPDATE eventlog.journal SET state = 'closed', outcome = $3, closed_date = clock_timestamp(), " +
    'lease_owner = NULL, lease_expires_date = NULL ' +
    "WHERE id = $1 AND lease_owner = $2 AND state <> 'closed'",
};

const FLAG: NamedText = {
  name: 'fw_journal_flag',
  text:
    "UPDATE eventlog.journal SET state = 'flagged', note = $3, lease_owner = NULL, lease_expires_date = NULL " +
    "WHERE id = $1 AND lease_owner = $2 AND state <> 'closed'",
};

/** SQL of the longest pause between two attempts. */
const LONGEST_PAUSE_MS = '300000';

const FREE = '(lease_owner IS NULL OR lease_expires_date <= clock_timestamp())';

const SURVEY: NamedText = {
  name: 'fw_journal_survey',
  text:
    `WITH cut AS (UPDATE eventlog.journal SET lease_expires_date = ${leaseEnd('lease_ms')} ` +
    `WHERE state <> 'closed' AND ${isTooLong('lease_expires_date', 'lease_ms')}) ` +
    `SELECT count(*) FILTER (WHERE state = 'open' AND ${FREE}), count(*) FILTER (WHERE state = 'flagged'), ` +
    "coalesce((SELECT jsonb_agg(jsonb_build_object('id', id, 'actionName', action_name) ORDER BY id) FROM (" +
    `SELECT id, action_name FROM eventlog.journal WHERE state <> 'closed' AND state = 'open' AND ${FREE} ` +
    `AND (next_date IS NULL OR next_date <= clock_timestamp() OR ${isTooLong('next_date', LONGEST_PAUSE_MS)}) ORDER BY id LIMIT $1) AS d), ` +
    "'[]') FROM eventlog.journal WHERE state <> 'closed'",
};

/** Seconds until the next attempt: 2, 4, 8 and so on, up to five minutes. */
const FAILED: NamedText = {
  name: 'fw_journal_failed',
  text:
    'UPDATE eventlog.journal SET attempts = attempts + 1, error_message = $3, lease_owner = NULL, ' +
    'lease_expires_date = NULL, ' +
    "next_date = clock_timestamp() + least(300, 2 ^ least(attempts + 1, 9)) * interval '1 second' " +
    "WHERE id = $1 AND lease_owner = $2 AND state <> 'closed'",
};

const REQUEST: NamedText = {
  name: 'fw_journal_request',
  text: "UPDATE eventlog.journal SET state = 'open', next_date = NULL WHERE id = $1 AND state <> 'closed'",
};

const RELEASE: NamedText = {
  name: 'fw_journal_release',
  text:
    'UPDATE eventlog.journal SET lease_owner = NULL, lease_expires_date = NULL ' +
    'WHERE id = $1 AND lease_owner = $2',
};

const PURGE: NamedText = {
  name: 'fw_journal_purge',
  text:
    'DELETE FROM eventlog.journal WHERE ctid = ANY (ARRAY(SELECT ctid FROM eventlog.journal ' +
    "WHERE state = 'closed' AND outcome = 'applied' " +
    "AND closed_date <= clock_timestamp() - $2::bigint * interval '1 millisecond' " +
    'ORDER BY closed_date LIMIT $1 FOR UPDATE SKIP LOCKED))',
};

function toRow(row: readonly unknown[]): JournalRow {
  const [id, actionName, principal, startedDate, state, note, parts, attempts, error, leasedUntil] = row;
  return {
    id: String(id),
    actionName: String(actionName),
    principal: String(principal),
    startedDate: startedDate as Date,
    state: state as JournalRow['state'],
    note: note === null ? undefined : String(note),
    leasedUntil: leasedUntil === null ? undefined : (leasedUntil as Date),
    parts: parts as JsonValue,
    attempts: Number(attempts),
    lastError: error === null ? undefined : String(error),
  };
}
