import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { TransactionManager } from '../sharding/transaction-manager.js';

/** What `rebase` found on one shard. */
export interface Rebased {
  readonly shard: ShardIdentifier;
  /**
   * `unchanged`: the server is the one that the log was written on. `adopted`: another system identifier, and yet the
   * transaction ids go on (pg_upgrade). `opened`: a new epoch begins.
   */
  readonly outcome: 'unchanged' | 'adopted' | 'opened';
  readonly epoch: number;
  /** Positions above this one belong to the epoch. */
  readonly afterPosition: number;
}

const TIMEOUT_MS = 300_000;

/**
 * Makes delivery go on after the shard was restored on, or moved to, another server. Rows that were written elsewhere
 * are told apart from those written here: only the latter carry the id of the transaction that inserted them. Writers
 * wait meanwhile. Needs the rights of the table's owner.
 */
export async function rebase(database: ShardDatabase): Promise<Rebased> {
  const manager = new TransactionManager(database);
  return manager.transaction(
    async (transaction) => {
      const query = (text: string, values: readonly unknown[] = []) =>
        transaction.query({ text, values }, { timeoutMs: TIMEOUT_MS });
      await query(`SET LOCAL statement_timeout = ${TIMEOUT_MS}`);
      await query('LOCK TABLE eventlog.delivery_epochs, eventlog.events IN SHARE ROW EXCLUSIVE MODE');
      const { rows } = await query(LAST);
      const [epoch, known, after, found, foreign] = rows[0] ?? [];
      const last = { shard: database.shard, epoch: Number(epoch ?? 1), afterPosition: Number(after ?? 0) };
      // Where delivery has never run, the first process opens the first epoch.
      const isNew = known === null && foreign === null;
      if (known === found || isNew) return { ...last, outcome: 'unchanged' };
      if (foreign === null || foreign === undefined) {
        await query('UPDATE eventlog.delivery_epochs SET system_identifier = $2 WHERE epoch = $1', [
          epoch,
          found,
        ]);
        return { ...last, outcome: 'adopted' };
      }
      const next = { epoch: last.epoch + 1, afterPosition: Number(foreign) };
      await query(
        'INSERT INTO eventlog.delivery_epochs (epoch, system_identifier, after_position) VALUES ($1, $2, $3)',
        [next.epoch, found, next.afterPosition],
      );
      return { shard: database.shard, ...next, outcome: 'opened' };
    },
    { timeoutMs: TIMEOUT_MS },
  );
}

/** The row's inserting transaction, in 32 bits, against the id that the row carries. */
const LAST = `SELECT n.epoch, n.system_identifier, n.after_position,
  (SELECT system_identifier::text FROM pg_control_system()),
  (SELECT max(position) FROM eventlog.events AS e WHERE e.position > coalesce(n.after_position, 0)
     AND e.xmin::text::bigint <> e.transaction_id::text::numeric % 4294967296)
FROM (SELECT 1) AS one LEFT JOIN (SELECT * FROM eventlog.delivery_epochs ORDER BY epoch DESC LIMIT 1) AS n ON true`;
