import type { ShardDatabase } from '../../sharding/shard-database.js';
import * as column from './columns.js';

/** A transaction that keeps committed events from being delivered. */
export interface HorizonHolder {
  /** An open transaction that has written something, or a prepared one, in any database of the server. */
  readonly kind: 'transaction' | 'prepared';
  readonly transactionId: string;
  /** Process id of the server's backend; undefined for a prepared transaction. */
  readonly pid: number | undefined;
  /** Name of a prepared transaction (`COMMIT PREPARED '...'`). */
  readonly preparedName: string | undefined;
  readonly database: string | undefined;
  readonly user: string | undefined;
  readonly application: string | undefined;
  /** `idle in transaction` and the like. Undefined where the role may not see it (grant `pg_read_all_stats`). */
  readonly state: string | undefined;
  /** How long it has been open, in milliseconds; undefined where the role may not see it. */
  readonly ageMs: number | undefined;
}

/** The end of the readable part of the log. */
export interface Horizon {
  /** Oldest transaction that may still be in progress. */
  readonly transactionId: string;
  /**
   * Age of the oldest holder, in milliseconds; 0 if nothing holds the horizon. Where the role may not see the age of a
   * holder, at least the age of the oldest event that is held back.
   */
  readonly ageMs: number;
  /** Oldest first. */
  readonly holders: readonly HorizonHolder[];
}

/** The transactions that hold back the horizon of this server, except the query itself. */
export async function readHorizon(database: ShardDatabase): Promise<Horizon> {
  const { rows } = await database.query({ text: HORIZON, name: 'fw_horizon', values: [] });
  const holders = rows.flatMap((row) => (row[2] === null ? [] : [column.read(HOLDER, row.slice(2))]));
  const [transactionId, heldBackMs] = rows[0] ?? [];
  const ages = holders.map(({ ageMs = Number(heldBackMs) }) => ageMs);
  return { transactionId: String(transactionId), ageMs: Math.max(0, ...ages), holders };
}

/** Null or empty where the role may not see it. */
const visible = (sql: string) => column.optional(column.text(`nullif(${sql}, '')`));

const HOLDER: column.Columns<HorizonHolder> = {
  kind: column.raw('t.kind'),
  transactionId: column.text('t.xid'),
  pid: column.optional(column.numeric('t.pid')),
  preparedName: visible('t.name'),
  database: visible('t.datname'),
  user: visible('t.usename'),
  application: visible('t.application_name'),
  state: visible('t.state'),
  ageMs: column.optional(column.ageMs('t.since')),
};

/**
 * Only transactions with an assigned id count. A long read has none: it delays vacuum, but not this horizon. The second
 * column is the age of the oldest event that is held back.
 */
const HORIZON = `SELECT s.xmin, (SELECT extract(epoch FROM clock_timestamp() - created_date) * 1000 FROM eventlog.events
  WHERE transaction_id >= s.xmin ORDER BY transaction_id, position LIMIT 1), ${column.list(HOLDER)}
FROM (SELECT pg_snapshot_xmin(pg_current_snapshot()) AS xmin) AS s LEFT JOIN (
  SELECT 'transaction' AS kind, backend_xid::text AS xid, pid, NULL AS name, datname::text, usename::text,
    application_name, state, xact_start AS since
  FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND pid <> pg_backend_pid()
  UNION ALL
  SELECT 'prepared', transaction::text, NULL, gid, database::text, owner::text, NULL, NULL, prepared
  FROM pg_prepared_xacts) AS t ON true ORDER BY t.since NULLS LAST`;
