import type { RepositoryContext } from '../persistence/read/repository.js';
import { Placement } from '../sharding/placement.js';

/** Chooses among shards that exist in memory only: all have one weight, and every database is empty. */
export function memoryPlacement({ shards }: Pick<RepositoryContext, 'shards'>): Placement {
  const size = { columns: ['size'], rows: [[0]], command: 'SELECT', rowCount: 1 };
  return new Placement({
    shards: () => shards,
    memberConfig: (shard) => ({ shard }),
    database: () => ({ query: () => Promise.resolve(size) }),
  });
}
