import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { LoopTime } from '../concurrency/loop-time.js';
import { OperatorsSocket } from './operators-socket.js';
import { type Frame, HELLO, readFrames, socketPath, writeFrame } from './operators-wire.js';

const root = mkdtempSync(join(tmpdir(), 'fw-wire-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Received {
  readonly frames: readonly Frame[];
  readonly refused: number;
}

/** The frames and refusals that result from bytes in these pieces. */
function receive(pieces: readonly Buffer[]): Received {
  const socket = new Socket();
  const frames: Frame[] = [];
  let refused = 0;
  readFrames(
    socket,
    (frame) => frames.push(frame),
    () => {
      refused += 1;
    },
  );
  for (const piece of pieces) socket.emit('data', piece);
  return { frames, refused };
}

function frame(kind: number, bytes: Buffer, length = bytes.length): Buffer {
  const header = Buffer.alloc(5);
  header.writeUInt8(kind, 0);
  header.writeUInt32BE(length, 1);
  return Buffer.concat([header, bytes]);
}

function cut(bytes: Buffer, size: number): readonly Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return pieces;
}

const SENT = Buffer.concat([
  Buffer.from(HELLO),
  frame(0, Buffer.from('first')),
  frame(0, Buffer.alloc(0)),
  frame(1, Buffer.from('a failure')),
  frame(0, Buffer.alloc(1_000, 'x')),
]);

it.each([1, 2, 3, 7, 64, 10_000])('reads the same frames from pieces of %i bytes', (size) => {
  const { frames, refused } = receive(cut(SENT, size));
  expect(refused).toBe(0);
  expect(frames.map(({ kind, bytes }) => [kind, Buffer.from(bytes).toString()])).toEqual([
    ['messages', 'first'],
    ['messages', ''],
    ['failure', 'a failure'],
    ['messages', 'x'.repeat(1_000)],
  ]);
});

it('copies each byte of a large frame at most twice, for any number of pieces', () => {
  const concat = Buffer.concat;
  const pieces = [Buffer.from(HELLO), ...cut(frame(0, Buffer.alloc(1_000_000)), 100)];
  let copied = 0;
  Buffer.concat = (list, length) => {
    const bytes = concat(list, length);
    copied += bytes.length;
    return bytes;
  };
  try {
    expect(receive(pieces).frames.length).toBe(1);
  } finally {
    Buffer.concat = concat;
  }
  expect(copied).toBeLessThanOrEqual(2_000_000);
});

it('refuses another greeting and an oversized frame once, and stops reading', () => {
  const other = Buffer.from('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
  expect(receive([other, other])).toEqual({ frames: [], refused: 1 });
  const long = Buffer.concat([Buffer.from(HELLO), frame(0, Buffer.from('x'), 0xffffffff)]);
  expect(receive([long, SENT, SENT])).toEqual({ frames: [], refused: 1 });
});

it('does not count time in which the process was busy, and disconnects an idle command', async () => {
  let nowMs = 0;
  let look = (): void => {};
  const holding = new LoopTime({
    nowMs: () => nowMs,
    later: (work) => {
      look = work;
    },
  });
  const directory = mkdtempSync(join(root, 'data-'));
  let ended = false;
  const take = (): ReturnType<Parameters<typeof OperatorsSocket.listen>[1]> =>
    Promise.resolve({
      exchange: (messages) => Promise.resolve(messages),
      isNeeded: () => Promise.resolve(true),
      end: () => {
        ended = true;
      },
    });
  const operators = await OperatorsSocket.listen(directory, take, holding);
  if (operators === undefined) return;
  const client = connect(socketPath(directory) ?? '');
  client.write(HELLO);
  const ask = async (): Promise<void> => {
    const answered = once(client, 'data');
    writeFrame(client, { kind: 'messages', bytes: Buffer.from('begin') });
    await answered;
  };
  await once(client, 'data');
  await ask();
  nowMs += 20_000;
  look();
  await ask();
  expect(ended).toBe(false);
  const closed = once(client, 'close');
  for (let step = 0; step < 260; step += 1) {
    nowMs += 20;
    look();
  }
  await closed;
  await operators.close();
  expect(ended).toBe(true);
});
