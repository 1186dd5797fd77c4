import { expect, test } from 'vitest';
import { HeldLease } from '../../concurrency/held-lease.js';
import type { LogCursor } from '../log/event-record.js';
import { CheckpointWriter } from './checkpoint-writer.js';
import type { ConsumerStore, LeasedConsumer } from './consumer-store.js';

const at = (position: number): LogCursor => ({ epoch: 1, transactionId: '1', position });

test.each([
  [undefined, 'lost', [[0, 2]]],
  [{ cursor: at(2), superseded: true }, 'superseded', [[0, 2]]],
  // The reply to an earlier statement was lost.
  [
    { cursor: at(1), superseded: false },
    'saved',
    [
      [0, 2],
      [1, 2],
    ],
  ],
  [{ cursor: at(2), superseded: false }, 'saved', [[0, 2]]],
])('after a refused checkpoint, a stored %j is %s', async (stored, expected, moves) => {
  const sent: unknown[] = [];
  const consumers = {
    checkpoint: async (_: unknown, { from, to }: { from: LogCursor; to: LogCursor }) => {
      sent.push([from.position, to.position]);
      return sent.length > 1;
    },
    readState: async () => stored,
  } as unknown as ConsumerStore;
  const lease = { name: 'Mirror', holder: 'process', fence: '1' };
  const held = new HeldLease(lease, performance.now(), 60_000);
  const writer = new CheckpointWriter(consumers, { cursor: at(0) } as LeasedConsumer, held);
  writer.reached(at(2));
  expect(await writer.save(true)).toBe(expected);
  if (expected === 'saved') await writer.save(true);
  expect(sent).toEqual(moves);
});
