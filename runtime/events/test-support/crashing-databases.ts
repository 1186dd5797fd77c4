import type { ShardingTopology } from '../../config/types.js';
import { postgresAdapter } from '../../databases.js';
import type { DatabaseAdapter } from '../../sharding/database-adapter.js';
import { DatabaseRegistry } from '../../sharding/database-registry.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import type { Rows, ShardDatabase, ShardSession } from '../../sharding/shard-database.js';

/** The statement at which a process dies, before the server receives it or after the server has answered. */
export interface CrashPoint {
  /** Infinity: only when the test kills it. */
  readonly statement: number;
  readonly after: boolean;
}

/**
 * Databases of a process that dies at one statement: the reply is lost, and no later statement is sent. Also returns
 * the number of statements, so that a caller knows when it has tried all of them.
 */
export function crashingDatabases(
  topology: ShardingTopology,
  point: CrashPoint,
): { readonly databases: DatabaseRegistry; readonly dead: () => boolean; readonly kill: () => void } {
  let count = 0;
  let dead = false;
  const mortal = async (call: () => Promise<Rows>): Promise<Rows> => {
    if (dead) throw lost('not-sent');
    count += 1;
    if (count < point.statement) return call();
    dead = true;
    if (point.after) await call();
    throw lost('in-flight');
  };
  const adapter: DatabaseAdapter = {
    kind: 'postgresql',
    open: (shard, source, options) => mortalDatabase(postgresAdapter.open(shard, source, options), mortal),
  };
  return {
    databases: new DatabaseRegistry(topology, { adapters: [adapter], warn: () => {} }),
    dead: () => dead,
    kill: () => {
      dead = true;
    },
  };
}

/** A database of a process that may die. @param mortal runs or fails each statement */
export function mortalDatabase(
  database: ShardDatabase,
  mortal: (call: () => Promise<Rows>) => Promise<Rows>,
): ShardDatabase {
  return {
    shard: database.shard,
    kind: database.kind,
    description: database.description,
    sessionState: database.sessionState,
    query: (statement, options) => mortal(() => database.query(statement, options)),
    acquire: async (options) => mortalSession(await database.acquire(options), mortal),
    stats: () => database.stats(),
    close: (graceMs) => database.close(graceMs),
  };
}

function mortalSession(
  session: ShardSession,
  mortal: (call: () => Promise<Rows>) => Promise<Rows>,
): ShardSession {
  return {
    query: (statement, options) => mortal(() => session.query(statement, options)),
    script: (sql, options) => session.script(sql, options),
    release: () => session.destroy(),
    destroy: () => session.destroy(),
  };
}

/** The failure of a statement of a dead process. */
export function lost(phase: 'not-sent' | 'in-flight'): DriverFailure {
  const reason = phase === 'not-sent' ? 'closed' : undefined;
  return new DriverFailure('the process is dead', { phase, reason });
}
