import { topologyOf } from '../../../test/databases/topology.js';
import type { ShardingTopology } from '../../config/types.js';
import { postgresAdapter } from '../../databases.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { DatabaseRegistry } from '../../sharding/database-registry.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { forwarding } from '../../sharding/forwarding.js';
import type { Rows, ShardDatabase } from '../../sharding/shard-database.js';

/** Runs, delays or fails a statement. */
export type Intercept = (call: () => Promise<Rows>, text: string) => Promise<Rows>;

/**
 * The databases of another process, whose statements a test intercepts. Works on either adapter: uses the databases of
 * `healthy`, which stay open when these are closed.
 */
export function interceptedDatabases(healthy: DatabaseRegistry, intercept: Intercept): DatabaseRegistry {
  const topology = topologyOf(healthy.shards().map((shard) => [shard, healthy.memberConfig(shard).primary]));
  const open = (shard: ShardIdentifier): ShardDatabase => {
    const database = interceptedDatabase(healthy.database(shard), intercept);
    return forwarding(database, { close: () => Promise.resolve() });
  };
  const adapters = (['postgresql', 'pglite'] as const).map((kind) => ({ kind, open }));
  return new DatabaseRegistry(topology, { adapters, warn: () => {} });
}

/** Databases of one process on PostgreSQL, with connections of its own. @param wrap changes each of them */
export function wrappedDatabases(
  topology: ShardingTopology,
  wrap: (database: ShardDatabase) => ShardDatabase,
): DatabaseRegistry {
  const open: typeof postgresAdapter.open = (...source) => wrap(postgresAdapter.open(...source));
  return new DatabaseRegistry(topology, { adapters: [{ kind: 'postgresql', open }], warn: () => {} });
}

/** A database whose statements are intercepted. Its sessions are not used again. */
export function interceptedDatabase(database: ShardDatabase, intercept: Intercept): ShardDatabase {
  return forwarding(database, {
    query: (statement, options) => intercept(() => database.query(statement, options), statement.text),
    acquire: async (options) => {
      const session = await database.acquire(options);
      return {
        query: (statement, each) => intercept(() => session.query(statement, each), statement.text),
        script: (sql, each) => session.script(sql, each),
        release: () => session.destroy(),
        destroy: () => session.destroy(),
      };
    },
  });
}

/** Databases of one process, of which one shard is unreachable while `down` returns true. */
export function databasesWithout(
  topology: ShardingTopology,
  shard: ShardIdentifier,
  down: () => boolean,
): DatabaseRegistry {
  const refuse: Intercept = (call) => (down() ? Promise.reject(unreachable()) : call());
  return wrappedDatabases(topology, (database) =>
    database.shard === shard ? interceptedDatabase(database, refuse) : database,
  );
}

function unreachable(): DriverFailure {
  return new DriverFailure('connect ECONNREFUSED', { phase: 'not-sent', reason: 'unreachable' });
}

/** Databases of a process that can be killed: a reply is lost, and no later statement is sent. */
export interface MortalDatabases {
  readonly databases: DatabaseRegistry;
  /** Lets the process die at its n-th statement from now: before the server receives it, or after it has answered. */
  arm(statement: number, after: boolean): void;
  kill(): void;
  readonly dead: () => boolean;
}

/** @param from the topology of the process, or the databases of a surviving one, whose connections it shares */
export function mortalDatabases(from: ShardingTopology | DatabaseRegistry): MortalDatabases {
  let left = Number.POSITIVE_INFINITY;
  let isAfter = false;
  let dead = false;
  const mortal: Intercept = async (call) => {
    if (dead) throw lost('not-sent');
    left -= 1;
    if (left > 0) return call();
    dead = true;
    if (isAfter) await call();
    throw lost('in-flight');
  };
  return {
    databases:
      from instanceof DatabaseRegistry
        ? interceptedDatabases(from, mortal)
        : wrappedDatabases(from, (database) => interceptedDatabase(database, mortal)),
    arm: (statement, after) => {
      left = statement;
      isAfter = after;
    },
    kill: () => {
      dead = true;
    },
    dead: () => dead,
  };
}

/** The failure of a statement of a dead process. */
export function lost(phase: 'not-sent' | 'in-flight'): DriverFailure {
  const reason = phase === 'not-sent' ? 'closed' : undefined;
  return new DriverFailure('the process is dead', { phase, reason });
}
