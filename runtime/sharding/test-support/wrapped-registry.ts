import type { DatabaseRegistry } from '../database-registry.js';
import { forwarding } from '../forwarding.js';
import type { Rows, ShardDatabase, Statement } from '../shard-database.js';

/** Intercepts the single statements of a caller: `send` passes the statement on. */
export type Interceptor = (
  statement: Statement,
  send: () => Promise<Rows>,
  database: ShardDatabase,
) => Promise<Rows>;

/** The same databases, with every single statement passed to `intercept`. */
export function wrappedRegistry(registry: DatabaseRegistry, intercept: Interceptor): DatabaseRegistry {
  const wrap = (database: ShardDatabase): ShardDatabase =>
    forwarding(database, {
      query: (statement, options) => intercept(statement, () => database.query(statement, options), database),
    });
  return new Proxy(registry, {
    get: (target, property) => {
      if (property === 'database') {
        return (shard: Parameters<DatabaseRegistry['database']>[0]) => wrap(target.database(shard));
      }
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
