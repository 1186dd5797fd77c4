import type { DatabaseRegistry } from '../database-registry.js';
import type { ShardDatabase } from '../shard-database.js';

/** Statements that went through a counting registry. */
export interface StatementCounts {
  started: number;
  mostAtOnce: number;
  /** In the order in which they were sent. */
  readonly texts: string[];
}

/** The same databases, with every lone statement counted. */
export function countingRegistry(registry: DatabaseRegistry): {
  readonly registry: DatabaseRegistry;
  readonly counts: StatementCounts;
} {
  const counts: StatementCounts = { started: 0, mostAtOnce: 0, texts: [] };
  let running = 0;
  const counting = (database: ShardDatabase): ShardDatabase => ({
    shard: database.shard,
    kind: database.kind,
    description: database.description,
    query: async (statement, options) => {
      counts.started += 1;
      counts.texts.push(statement.text);
      running += 1;
      counts.mostAtOnce = Math.max(counts.mostAtOnce, running);
      try {
        return await database.query(statement, options);
      } finally {
        running -= 1;
      }
    },
    acquire: (options) => database.acquire(options),
    stats: () => database.stats(),
    close: (graceMs) => database.close(graceMs),
  });
  const wrapped = new Proxy(registry, {
    get: (target, property) => {
      if (property === 'database') {
        return (shard: Parameters<DatabaseRegistry['database']>[0]) => counting(target.database(shard));
      }
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { registry: wrapped, counts };
}
