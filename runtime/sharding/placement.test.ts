import { expect, test } from 'vitest';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { Placement } from './placement.js';
import type { ShardDatabase } from './shard-database.js';

const [full, added] = [ShardIdentifier.of(1, 0), ShardIdentifier.of(1, 1)];
const BYTES = new Map([
  [full, 900],
  [added, 100],
]);

test('a member that takes new ids since the sizes were measured is chosen', async () => {
  let draining = added;
  const placement = new Placement({
    shards: () => [...BYTES.keys()],
    groupNumbers: () => new Set([1]),
    memberConfig: (shard) => ({ shard, draining: shard === draining }),
    database: (shard) => {
      const rows = { columns: [], rows: [[BYTES.get(shard)]], command: 'SELECT', rowCount: 1 };
      return { query: () => Promise.resolve(rows) } satisfies Pick<ShardDatabase, 'query'>;
    },
  });
  const choose = (): Promise<ShardIdentifier> => placement.choose(1, { kind: 'least-filled' });
  expect(await choose()).toBe(full);
  draining = full;
  expect(await choose()).toBe(added);
});
