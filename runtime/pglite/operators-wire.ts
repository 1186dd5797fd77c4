import { realpathSync } from 'node:fs';
import type { Socket } from 'node:net';
import { relative } from 'node:path';

/** First bytes in both directions: a client of another version is told so instead of being misunderstood. */
export const HELLO = 'fw-actions operators 1\n';
/** Beyond, the other side is no peer of ours, in bytes. */
const LARGEST_FRAME = 256 * 1_024 * 1_024;
const HEADER = 5;

/** What a frame carries: messages of PostgreSQL's protocol, or why there is no answer. */
export type FrameKind = 'messages' | 'failure';
export interface Frame {
  readonly kind: FrameKind;
  readonly bytes: Uint8Array;
}

/** Longest path of a Unix domain socket that every system takes, in bytes. */
const LONGEST_PATH = 103;

/**
 * The socket beside the data directory: `data/main` -> `data/main.sock`. In the shorter of its two forms, because
 * systems limit its length; undefined if even that is too long, and on Windows, where Node has no such sockets.
 */
export function socketPath(directory: string): string | undefined {
  if (process.platform === 'win32') return undefined;
  const absolute = `${realpathSync(directory)}.sock`;
  const short = relative(process.cwd(), absolute);
  const path = short.length < absolute.length ? short : absolute;
  return Buffer.byteLength(path) > LONGEST_PATH ? undefined : path;
}

export function writeFrame(socket: Socket, { kind, bytes }: Frame): void {
  const header = Buffer.alloc(HEADER);
  header.writeUInt8(kind === 'messages' ? 0 : 1);
  header.writeUInt32BE(bytes.length, 1);
  socket.write(Buffer.concat([header, bytes]));
}

/**
 * Cuts what a socket receives into frames, after the greeting.
 *
 * @param refused called once for what is no peer of ours
 */
export function readFrames(socket: Socket, take: (frame: Frame) => void, refused: () => void): void {
  let isGreeted = false;
  let pending: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    if (!isGreeted) {
      if (pending.length < HELLO.length) return;
      if (pending.toString('latin1', 0, HELLO.length) !== HELLO) return refused();
      isGreeted = true;
      pending = pending.subarray(HELLO.length);
    }
    while (pending.length >= HEADER) {
      const length = pending.readUInt32BE(1);
      if (length > LARGEST_FRAME) return refused();
      if (pending.length < HEADER + length) return;
      const bytes = pending.subarray(HEADER, HEADER + length);
      take({ kind: pending.readUInt8(0) === 0 ? 'messages' : 'failure', bytes });
      pending = pending.subarray(HEADER + length);
    }
  });
}
