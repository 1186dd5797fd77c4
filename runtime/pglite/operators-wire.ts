import { realpathSync } from 'node:fs';
import type { Socket } from 'node:net';
import { relative } from 'node:path';

/** First bytes in both directions, so that a client of another version gets an error instead of being misread. */
export const HELLO = 'fw-actions operators 1\n';
/** Maximum size of a frame in bytes; a larger one shows that the other side uses another protocol. */
const LARGEST_FRAME = 256 * 1_024 * 1_024;
const HEADER = 5;

/** The content of a frame: messages of PostgreSQL's protocol, or the reason why there is no answer. */
export type FrameKind = 'messages' | 'failure';
export interface Frame {
  readonly kind: FrameKind;
  readonly bytes: Uint8Array;
}

/** Maximum length of a Unix domain socket's path on all systems, in bytes. */
const LONGEST_PATH = 103;

/**
 * The path of the socket next to the data directory: `data/main` -> `data/main.sock`. The shorter one of its relative
 * and absolute forms, because systems limit its length. Undefined if even that is too long, and on Windows, where
 * Node.js has no such sockets.
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
 * Splits the received bytes into frames, after the greeting.
 *
 * @param refused called once if the other side uses another protocol; nothing is read afterwards
 */
export function readFrames(socket: Socket, take: (frame: Frame) => void, refused: () => void): void {
  const frames = new FrameReader(take);
  const read = (chunk: Buffer): void => {
    if (frames.read(chunk)) return;
    socket.off('data', read);
    refused();
  };
  socket.on('data', read);
}

class FrameReader {
  readonly #received = new ReceivedBytes();
  readonly #take: (frame: Frame) => void;
  #isGreeted = false;
  /** Header of the frame that is arriving. */
  #header: Buffer | undefined;

  constructor(take: (frame: Frame) => void) {
    this.#take = take;
  }

  /** @returns whether the other side uses this protocol */
  read(chunk: Buffer): boolean {
    this.#received.push(chunk);
    if (!this.#isGreeted) {
      const hello = this.#received.take(HELLO.length);
      if (hello === undefined) return true;
      if (hello.toString('latin1') !== HELLO) return false;
      this.#isGreeted = true;
    }
    for (;;) {
      this.#header ??= this.#received.take(HEADER);
      if (this.#header === undefined) return true;
      const length = this.#header.readUInt32BE(1);
      if (length > LARGEST_FRAME) return false;
      const bytes = this.#received.take(length);
      if (bytes === undefined) return true;
      const kind = this.#header.readUInt8(0) === 0 ? 'messages' : 'failure';
      this.#header = undefined;
      this.#take({ kind, bytes });
    }
  }
}

/** Received bytes. Each byte is copied once, for any number of pieces per frame. */
class ReceivedBytes {
  #chunks: Buffer[] = [];
  #length = 0;

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /** The next `length` bytes; undefined until all have arrived. */
  take(length: number): Buffer | undefined {
    if (this.#length < length) return undefined;
    const [first = Buffer.alloc(0)] = this.#chunks;
    const bytes = first.length >= length ? first : Buffer.concat(this.#chunks, this.#length);
    this.#length -= length;
    if (bytes !== first) this.#chunks = [bytes.subarray(length)];
    else if (first.length === length) this.#chunks.shift();
    else this.#chunks[0] = first.subarray(length);
    return bytes.subarray(0, length);
  }
}
