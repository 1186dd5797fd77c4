import { textArray } from '../../persistence/codec/column-codec.js';
import { quoteIdentifier } from '../../persistence/codec/sql-identifier.js';
import type { Transaction } from '../../sharding/transaction-manager.js';
import { type LogCursor, toCursor } from '../log/event-record.js';
import type { Lease } from './consumer-store.js';

/** The rebuild cannot continue: the declaration of the handler or its tables must change. */
export class RebuildRefused extends Error {}

/** Maximum time of each statement of the switch, which writes all rows again, in milliseconds. */
const SWITCH_MS = 1_800_000;

/**
 * The tables of a projection while they are rebuilt, beside those that are read:
 *
 *     public.merchant_revenue               readers, and the live handler
 *     fw_rebuild_1a2b3c4d.merchant_revenue  the rebuilding handler: the schema is first in its search path
 *
 * The switch replaces the rows in one transaction, under a lock on the live handler's checkpoint. Tables keep their
 * references, views, triggers and rights.
 */
export class Rebuild {
  readonly #schema: string;
  readonly #tables: readonly string[];

  /**
   * @param consumer name of the rebuilding consumer: `Handler#1a2b3c4d`
   * @param tables as the handler names them; a table comes after those that it references
   */
  constructor(consumer: string, tables: readonly string[]) {
    this.#schema = rebuildSchema(consumer);
    this.#tables = tables;
  }

  /**
   * Runs a handler in a transaction on the rebuilt tables.
   *
   * @throws RebuildRefused if the tables cannot be rebuilt, or it has written another one
   */
  async within(transaction: Transaction, work: () => Promise<void>): Promise<void> {
    const before = await this.#enter(transaction);
    await work();
    const after = await writtenRows(transaction);
    const others = [...after].filter(
      ([table, rows]) => !table.startsWith(`${this.#schema}.`) && rows > (before.get(table) ?? 0),
    );
    if (others.length > 0)
      throw new RebuildRefused(
        `The handler writes ${others.map(([table]) => table).join(', ')}, which a rebuild would write twice. Add the ` +
          'table to `projection`, and name it without its schema',
      );
  }

  /** The live handler's checkpoint, which no other transaction moves until this one ends. Readers do not wait. */
  async lockLive(transaction: Transaction, handler: string): Promise<LogCursor | undefined> {
    // The log may have no event for the handler.
    await this.#prepare(transaction);
    // In the order of the live handler, which writes its tables before its checkpoint.
    const tables = this.#tables.map(quoteIdentifier).join(', ');
    await transaction.query({ text: `LOCK TABLE ${tables} IN SHARE ROW EXCLUSIVE MODE`, values: [] });
    const { rows } = await transaction.query({ text: LOCK_LIVE, values: [handler] });
    return rows[0] === undefined ? undefined : toCursor(rows[0]);
  }

  /**
   * Replaces the rows that are read, and moves the live handler to this checkpoint. The letters that were discarded for
   * the rebuild take the place of its dead letters, because the rows contain the effects of all other events.
   */
  async switchTo(
    transaction: Transaction,
    cursor: LogCursor,
    { lease, handler }: { readonly lease: Lease; readonly handler: string },
  ): Promise<void> {
    const run = (text: string, values: readonly unknown[] = []) =>
      transaction.query({ text, values }, { timeoutMs: SWITCH_MS });
    // The handler may have run in this transaction.
    await run(LEAVE, [this.#schema]);
    const { rows } = await run(ORIGINALS, [this.#schema, textArray(this.#tables)]);
    const originals = rows.map(([table, shadow, columns]) => ({ table, shadow, columns }));
    for (const { table } of originals.toReversed()) await run(`DELETE FROM ${table}`);
    for (const { table, shadow, columns } of originals)
      await run(`INSERT INTO ${table} (${columns}) SELECT ${columns} FROM ${shadow}`);
    await run('DELETE FROM eventlog.dead_letters WHERE consumer = $1', [handler]);
    await run('UPDATE eventlog.dead_letters SET consumer = $1 WHERE consumer = $2', [handler, lease.name]);
    await run(MOVE_LIVE, [handler, cursor.epoch, cursor.transactionId, cursor.position]);
    await run('UPDATE eventlog.consumers SET finished_date = clock_timestamp() WHERE name = $1', [
      lease.name,
    ]);
    await run(`DROP SCHEMA ${this.#schema} CASCADE`);
  }

  /** Lets the transaction find the rebuilt tables. @returns the rows that it has written before */
  async #enter(transaction: Transaction): Promise<ReadonlyMap<string, number>> {
    const enter = { text: ENTER, values: [this.#schema] };
    let { rows } = await transaction.query(enter);
    if (rows[0]?.[2] === null) {
      await this.#prepare(transaction);
      ({ rows } = await transaction.query(enter));
    }
    return countsOf(rows);
  }

  /** Creates the tables, unless an earlier transaction has committed them. @throws RebuildRefused */
  async #prepare(transaction: Transaction): Promise<void> {
    const run = (text: string, values: readonly unknown[] = []) => transaction.query({ text, values });
    const { rows: existing } = await run('SELECT FROM pg_namespace WHERE nspname = $1', [this.#schema]);
    if (existing.length > 0) return;
    const { rows } = await run(EXAMINE, [textArray(this.#tables)]);
    for (const [name, table, hasIdentity, trigger, child] of rows) {
      if (table === null) throw new RebuildRefused(`There is no table ${name}, which the projection names`);
      if (hasIdentity === true)
        throw new RebuildRefused(
          `${table} has an identity column, whose values a rebuild would not continue: use a key of the events`,
        );
      if (trigger !== null)
        throw new RebuildRefused(
          `${table} has the trigger ${trigger}, which would run for each replaced row: drop it for the rebuild`,
        );
      if (child !== null)
        throw new RebuildRefused(
          `${child} references ${table}, whose rows a rebuild deletes and writes again: drop the foreign key, or add ` +
            `${child} to \`projection\``,
        );
    }
    await run(`CREATE SCHEMA ${this.#schema}`);
    for (const [name, table] of rows)
      await run(
        `CREATE TABLE ${this.#schema}.${quoteIdentifier(String(name))} (LIKE ${table} INCLUDING ALL)`,
      );
  }
}

/** The schema of the tables of a rebuild, by the name of its consumer: `Handler#1a2b3c4d`. */
export function rebuildSchema(consumer: string): string {
  return `fw_rebuild_${consumer.slice(consumer.indexOf('#') + 1)}`;
}

/**
 * Rows that this transaction has written, by table. The counters of this session also contain its last transactions,
 * which is why two readings are compared.
 */
async function writtenRows(transaction: Transaction): Promise<ReadonlyMap<string, number>> {
  return countsOf((await transaction.query({ text: WRITTEN, values: [] })).rows);
}

function countsOf(rows: readonly (readonly unknown[])[]): ReadonlyMap<string, number> {
  return new Map(rows.map(([table, count]) => [String(table), Number(count)]));
}

const WRITTEN = `SELECT schemaname || '.' || relname AS name, n_tup_ins + n_tup_upd + n_tup_del AS count
FROM pg_stat_xact_all_tables
WHERE schemaname NOT IN ('eventlog', 'pg_catalog', 'pg_toast') AND n_tup_ins + n_tup_upd + n_tup_del > 0`;

/** One statement, because a rebuild that catches up pays for it in each transaction. The third column: the schema, or null. */
const ENTER = `SELECT w.name, w.count, s.schema, s.path FROM (SELECT
  (SELECT nspname FROM pg_namespace WHERE nspname = $1) AS schema,
  set_config('search_path', $1 || ', ' || current_setting('search_path'), true) AS path) AS s
LEFT JOIN (${WRITTEN}) AS w ON true`;

const LEAVE =
  "SELECT set_config('search_path', replace(current_setting('search_path'), $1 || ', ', ''), true)";

/** Of each table: its full name, and what prevents that its rows are replaced. */
const EXAMINE = `WITH t AS (SELECT name, nr, to_regclass(quote_ident(name)) AS oid
  FROM unnest($1::text[]) WITH ORDINALITY AS n (name, nr))
SELECT name, oid::text,
  EXISTS (SELECT FROM pg_attribute WHERE attrelid = t.oid AND attidentity <> '' AND NOT attisdropped),
  (SELECT tgname FROM pg_trigger WHERE tgrelid = t.oid AND NOT tgisinternal LIMIT 1),
  (SELECT conrelid::regclass::text FROM pg_constraint WHERE confrelid = t.oid AND contype = 'f'
    AND conrelid NOT IN (SELECT oid FROM t WHERE oid IS NOT NULL) LIMIT 1)
FROM t ORDER BY nr`;

/** The search path of this transaction finds the tables that are read. */
const ORIGINALS = `SELECT to_regclass(quote_ident(t.name))::text, format('%I.%I', $1::text, t.name), (
  SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
  WHERE attrelid = to_regclass(quote_ident(t.name)) AND attnum > 0 AND NOT attisdropped AND attgenerated = '')
FROM unnest($2::text[]) WITH ORDINALITY AS t (name, nr) ORDER BY t.nr`;

const LOCK_LIVE =
  "SELECT epoch, transaction_id, position FROM eventlog.consumers WHERE name = $1 AND kind = 'live' FOR UPDATE";

/** Ends the work of the present holder, whose memory does not match. */
const MOVE_LIVE = `UPDATE eventlog.consumers SET epoch = $2, transaction_id = $3::xid8, position = $4, holder = NULL,
  leased_until = NULL, checkpoint_date = clock_timestamp(), suspects = '{}' WHERE name = $1`;
