import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { callShard } from '../../sharding/public-error.js';
import type { ShardDatabase, Statement } from '../../sharding/shard-database.js';

/** Finds one shard's database, or those of all shards. */
export type FindDatabases = (shard: ShardIdentifier | undefined) => readonly ShardDatabase[];

/** A table of delivery on all shards, for operators. */
export class OperatedTable {
  readonly #find: FindDatabases;
  readonly #changed: () => void;

  /** @param changed called when a process may have work to resume */
  constructor(find: FindDatabases, changed: () => void) {
    this.#find = find;
    this.#changed = changed;
  }

  /** The rows of a query on one shard, or on all. */
  async read<T>(
    shard: ShardIdentifier | undefined,
    statement: Statement,
    toItem: (row: readonly unknown[], shard: ShardIdentifier) => T,
  ): Promise<readonly T[]> {
    const found = await Promise.all(
      this.#find(shard).map(async (database) => {
        const { rows } = await callShard(database.shard, () => database.query(statement));
        return rows.map((row) => toItem(row, database.shard));
      }),
    );
    return found.flat();
  }

  /** Changes rows on one shard, or on all. @returns the number that each shard's first row states, else of its rows */
  async change(shard: ShardIdentifier | undefined, statement: Statement): Promise<number> {
    const counts = await Promise.all(
      this.#find(shard).map(async (database) => {
        const { rows, rowCount } = await callShard(database.shard, () => database.query(statement));
        return rows[0] === undefined ? rowCount : Number(rows[0][0]);
      }),
    );
    this.#changed();
    return counts.reduce((total, each) => total + each, 0);
  }
}

/** Removes an item from the stored selection of a consumer: events of this class are no longer meant for it. */
export const NARROW = `UPDATE eventlog.consumers SET selects = array_remove(selects, $2::text), waiting_for = NULL
WHERE name = $1 AND kind = 'live' AND $2 = ANY (selects)`;

/** Resumes a halted consumer. */
export const RESUME = 'UPDATE eventlog.consumers SET halted = NULL WHERE name = $1 AND halted IS NOT NULL';
