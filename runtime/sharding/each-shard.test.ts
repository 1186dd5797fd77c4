import { expect, it } from 'vitest';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { ValidationError } from '../errors.js';
import { onEachShard } from './each-shard.js';

it.each([0, -1, Number.NaN])('work on %d shards at a time is refused, not left undone', async (atOnce) => {
  const work = onEachShard([ShardIdentifier.of(0, 0)], atOnce, () => Promise.resolve());
  await expect(work).rejects.toThrow(ValidationError);
});
