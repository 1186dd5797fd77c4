import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { callShard } from '../../sharding/public-error.js';
import type { ShardDatabase, Statement } from '../../sharding/shard-database.js';
import * as column from '../log/columns.js';

/** The shards of an application for operators: each call is for one shard, or for all of them at once. */
export class OperatedShards {
  readonly #registry: DatabaseRegistry;
  /** Must be called when a process may have new work. */
  readonly changed: () => void;

  constructor(registry: DatabaseRegistry, changed: () => void) {
    this.#registry = registry;
    this.changed = changed;
  }

  databases(shard: ShardIdentifier | undefined): readonly ShardDatabase[] {
    const shards = shard === undefined ? this.#registry.shards() : [shard];
    return shards.map((each) => this.#registry.database(each));
  }

  async ask<T>(
    shard: ShardIdentifier | undefined,
    ask: (database: ShardDatabase) => Promise<T>,
  ): Promise<readonly T[]> {
    const databases = this.databases(shard);
    return Promise.all(databases.map((database) => callShard(database.shard, () => ask(database))));
  }

  /** The rows of a query, each with its shard. */
  async read<T>(
    shard: ShardIdentifier | undefined,
    statement: Statement,
    columns: column.Columns<T>,
  ): Promise<readonly (T & { readonly shard: ShardIdentifier })[]> {
    const found = await this.ask(shard, async (database) => {
      const { rows } = await database.query(statement);
      return rows.map((row) => ({ shard: database.shard, ...column.read(columns, row) }));
    });
    return found.flat();
  }

  /** Changes rows. @returns the number that each shard's first row states, else of its rows */
  async change(shard: ShardIdentifier | undefined, statement: Statement): Promise<number> {
    const counts = await this.ask(shard, async (database) => {
      const { rows, rowCount } = await database.query(statement);
      return rows[0] === undefined ? rowCount : Number(rows[0][0]);
    });
    this.changed();
    return counts.reduce((total, each) => total + each, 0);
  }
}
