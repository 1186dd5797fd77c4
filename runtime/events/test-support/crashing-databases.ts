import type { ShardingTopology } from '../../config/types.js';
import { postgresAdapter } from '../../databases.js';
import type { DatabaseAdapter } from '../../sharding/database-adapter.js';
import { DatabaseRegistry } from '../../sharding/database-registry.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import type { Rows } from '../../sharding/shard-database.js';
import { interceptedDatabase } from './intercepted-databases.js';

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
    open: (shard, source, options) =>
      interceptedDatabase(postgresAdapter.open(shard, source, options), mortal),
  };
  return {
    databases: new DatabaseRegistry(topology, { adapters: [adapter], warn: () => {} }),
    dead: () => dead,
    kill: () => {
      dead = true;
    },
  };
}

/** The failure of a statement of a dead process. */
export function lost(phase: 'not-sent' | 'in-flight'): DriverFailure {
  const reason = phase === 'not-sent' ? 'closed' : undefined;
  return new DriverFailure('the process is dead', { phase, reason });
}
