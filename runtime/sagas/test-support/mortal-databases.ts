import { topologyOf } from '../../../test/databases/topology.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { lost, mortalDatabase } from '../../events/test-support/crashing-databases.js';
import { DatabaseRegistry } from '../../sharding/database-registry.js';
import type { Rows } from '../../sharding/shard-database.js';

/** Databases of a process that can be killed, which share the connections of a surviving one. */
export interface MortalDatabases {
  readonly databases: DatabaseRegistry;
  /** Lets the process die at its n-th statement from now: before the server receives it, or after it has answered. */
  arm(statement: number, after: boolean): void;
  readonly dead: () => boolean;
}

/** Works on either adapter: uses the databases of `healthy`, which stay open when the mortal ones are closed. */
export function mortalDatabases(healthy: DatabaseRegistry): MortalDatabases {
  const topology = topologyOf(healthy.shards().map((shard) => [shard, healthy.memberConfig(shard).primary]));
  let left = Number.POSITIVE_INFINITY;
  let isAfter = false;
  let dead = false;
  const mortal = async (call: () => Promise<Rows>): Promise<Rows> => {
    if (dead) throw lost('not-sent');
    left -= 1;
    if (left > 0) return call();
    dead = true;
    if (isAfter) await call();
    throw lost('in-flight');
  };
  const adapter = (kind: 'postgresql' | 'pglite') => ({
    kind,
    open: (shard: ShardIdentifier) => {
      const database = mortalDatabase(healthy.database(shard), mortal);
      return { ...database, close: () => Promise.resolve() };
    },
  });
  return {
    databases: new DatabaseRegistry(topology, {
      adapters: [adapter('postgresql'), adapter('pglite')],
      warn: () => {},
    }),
    arm: (statement, after) => {
      left = statement;
      isAfter = after;
    },
    dead: () => dead,
  };
}
