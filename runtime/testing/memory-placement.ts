import { Placement } from '../sharding/placement.js';
import type { MemoryModels } from './memory-models.js';

/** A placement over in-memory shards: all have the same weight, and every database is empty. */
export function memoryPlacement(models: MemoryModels): Placement {
  const size = { columns: ['size'], rows: [[0]], command: 'SELECT', rowCount: 1 };
  return new Placement({
    shards: () => models.shards,
    groupNumbers: (groups) => models.groupNumbers(groups),
    memberConfig: (shard) => ({ shard }),
    database: () => ({ query: () => Promise.resolve(size) }),
  });
}
