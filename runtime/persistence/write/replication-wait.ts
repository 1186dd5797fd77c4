/**
 * An SQL expression for look-ups that report a commit: with synchronous replication, the look-up itself ends only when
 * the standbys have what it has seen.
 *
 * A transaction becomes visible before it is replicated if its wait for the standbys is cancelled or its backend is
 * terminated. A look-up that only reads does not wait at its commit, so it would report what a failover undoes. A
 * transactional message takes a transaction id and a place in the log behind the row: the commit waits for that place.
 * It needs no privilege and leaves no row. Without synchronous standbys nothing is written.
 */
export const REPLICATION_WAIT: string =
  "CASE WHEN current_setting('synchronous_standby_names') <> '' AND NOT pg_is_in_recovery() " +
  "THEN pg_logical_emit_message(true, 'fw-actions', ''::text) END";
