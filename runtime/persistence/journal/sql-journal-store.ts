import type { JsonValue } from '../../domain/json.js';
import { storedText } from '../../domain/storable-text.js';
import { isTooLong, leaseEnd } from '../../sharding/lease-sql.js';
import type { CallOptions, ShardDatabase, Statement } from '../../sharding/shard-database.js';
import type { AttemptOutcome } from '../attempt-outcome.js';
import { arrayLiteral } from '../codec/column-codec.js';
import { REPLICATION_WAIT } from '../write/replication-wait.js';
import type { JournalEnd, JournalRow, JournalStore, JournalSurvey } from './journal-store.js';

/** The `JournalStore` of a PostgreSQL database, embedded or not. */
export class SqlJournalStore implements JournalStore {
  readonly #database: ShardDatabase;

  constructor(database: ShardDatabase) {
    this.#database = database;
  }

  async list(limit: number, options?: CallOptions): Promise<readonly JournalRow[]> {
    const { rows } = await this.#database.query({ ...LIST, values: [limit] }, options);
    return rows.map(toRow);
  }

  async read(id: string, options?: CallOptions): Promise<JournalRow | undefined> {
    return this.#one(READ, [id], options);
  }

  async lease(
    id: string,
    owner: string,
    holdMs: number,
    options?: CallOptions,
  ): Promise<JournalRow | undefined> {
    return this.#one(LEASE, [id, owner, Math.ceil(holdMs)], options);
  }

  async close(id: string, owner: string, end: JournalEnd, options?: CallOptions): Promise<boolean> {
    return this.#changed(CLOSE, [id, owner, end], options);
  }

  async flag(id: string, owner: string, note: string, options?: CallOptions): Promise<boolean> {
    return this.#changed(FLAG, [id, owner, note], options);
  }

  async survey(limit: number, options?: CallOptions): Promise<JournalSurvey> {
    const { rows } = await this.#database.query({ ...SURVEY, values: [limit] }, options);
    const [open, flagged, due] = rows[0] ?? [];
    return {
      open: Number(open ?? 0),
      flagged: Number(flagged ?? 0),
      // The statement builds this JSON.
      due: due as JournalSurvey['due'],
    };
  }

  async failed(id: string, owner: string, message: string, options?: CallOptions): Promise<void> {
    await this.#changed(FAILED, [id, owner, storedText(message)], options);
  }

  async request(id: string, options?: CallOptions): Promise<boolean> {
    return this.#changed(REQUEST, [id], options);
  }

  async release(id: string, owner: string, options?: CallOptions): Promise<void> {
    await this.#changed(RELEASE, [id, owner], options);
  }

  async outcomes(
    actionIds: readonly string[],
    options?: CallOptions,
  ): Promise<ReadonlyMap<string, AttemptOutcome>> {
    const { rows } = await this.#database.query({ ...OUTCOMES, values: [arrayLiteral(actionIds)] }, options);
    return new Map(rows.map(([id, status]) => [String(id), status === 'committed' ? 'committed' : 'void']));
  }

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

type NamedText = Pick<Statement, 'text' | 'name'>;

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

const OUTCOMES: NamedText = {
  name: 'fw_journal_outcomes',
  text: `SELECT id, status, ${REPLICATION_WAIT} FROM eventlog.actions WHERE id = ANY ($1::uuid[])`,
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
