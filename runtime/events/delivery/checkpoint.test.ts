import { expect, test } from 'vitest';
import { HeldLease } from '../../concurrency/held-lease.js';
import type { LogCursor } from '../log/event-record.js';
import { Checkpoint } from './checkpoint.js';
import type { ConsumerRunOptions } from './consumer-run-options.js';
import type { LeasedLoop, RunEnd } from './leased-loop.js';

const at = (position: number): LogCursor => ({ epoch: 1, transactionId: '1', position });

test.each([
  [undefined, 'lost', 0],
  [{ cursor: at(2), superseded: true }, 'superseded', 0],
  // The reply to an earlier statement was lost.
  [{ cursor: at(1), superseded: false }, undefined, 1],
  [{ cursor: at(2), superseded: false }, undefined, 2],
])('after a refused checkpoint, a stored %j ends the run as %s', async (stored, expected, position) => {
  const sent: unknown[] = [];
  const consumers = {
    checkpoint: async (_: unknown, { from, to }: { from: LogCursor; to: LogCursor }) => {
      sent.push([from.position, to.position]);
      return sent.length > 1;
    },
    readState: async () => stored,
  };
  let end: string | undefined;
  const loop = {
    lease: new HeldLease({ name: 'Mirror', holder: 'process', fence: '1' }, performance.now(), 60_000),
    finish: ({ kind }: RunEnd) => {
      end = kind;
    },
    supersede: () => {
      end = 'superseded';
    },
  };
  const options = { consumer: { cursor: at(0) }, consumers } as unknown as ConsumerRunOptions;
  const checkpoint = new Checkpoint(options, loop as unknown as LeasedLoop);
  expect(await checkpoint.moveTo(at(2))).toBe(false);
  expect([await checkpoint.learn(), end]).toEqual([expected === undefined, expected]);
  expect(checkpoint.saved).toEqual(at(position));
  expect(await checkpoint.moveTo(at(3))).toBe(true);
  expect(checkpoint.saved).toEqual(at(3));
  expect(sent).toEqual([
    [0, 2],
    [position, 3],
  ]);
});
