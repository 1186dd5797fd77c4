import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { HERE } from './accounts.js';

/** Databases for gateways that send no statement, except by the given members. */
export function unusedDatabases(members: object = {}): DatabaseRegistry {
  const ignored = { guardWith: () => {}, onRemoved: () => {}, onServerInDoubt: () => {} };
  return { ...ignored, defaultShard: HERE, ...members } as unknown as DatabaseRegistry;
}
