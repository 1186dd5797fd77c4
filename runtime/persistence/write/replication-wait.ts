/**
 * An SQL expression for look-ups that report a commit. With synchronous replication, the look-up ends only when the
 * standbys have the row that it reports.
 *
 * A transaction becomes visible before it is replicated if its wait for the standbys is cancelled or its backend is
 * terminated. A read-only look-up does not wait at its commit, so it would report a row that a failover undoes. A
 * transactional message has a transaction id and a position in the log after the row, and the commit waits for that
 * position. It needs no privilege and leaves no row. Without synchronous standbys nothing is written.
 */
export const REPLICATION_WAIT: string =
  "CASE WHEN current_setting('synchronous_standby_names') <> '' AND NOT pg_is_in_recovery() " +
  "THEN pg_logical_emit_message(true, 'fw-actions', ''::text) END";
