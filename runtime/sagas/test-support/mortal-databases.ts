import { lost } from '../../events/test-support/crashing-databases.js';
import { type Intercept, interceptedDatabases } from '../../events/test-support/intercepted-databases.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';

/** Databases of a process that can be killed, which share the connections of a surviving one. */
export interface MortalDatabases {
  readonly databases: DatabaseRegistry;
  /** Lets the process die at its n-th statement from now: before the server receives it, or after it has answered. */
  arm(statement: number, after: boolean): void;
  readonly dead: () => boolean;
}

/** See `interceptedDatabases`. */
export function mortalDatabases(healthy: DatabaseRegistry): MortalDatabases {
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
    databases: interceptedDatabases(healthy, mortal),
    arm: (statement, after) => {
      left = statement;
      isAfter = after;
    },
    dead: () => dead,
  };
}
