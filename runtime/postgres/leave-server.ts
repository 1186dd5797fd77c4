import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { time } from '../concurrency/time.js';
import type { LinkConfig } from './client-config.js';

/** What a cancel request names a backend by. */
export interface BackendKey {
  readonly processID: number;
  readonly secretKey: number;
}

/** A connection that is given up. */
export interface AbandonedLink {
  readonly socket: Socket;
  /** What its messages travel on: the socket, or TLS on top of it. */
  readonly stream: Duplex;
  readonly key: BackendKey | undefined;
}

/** What the server is at. */
export interface AbandonedWork {
  /** The statement; undefined: a script, or nothing. */
  readonly text: string | undefined;
  /** Since it was sent. */
  readonly elapsedMs: number;
}

export interface LinkLimits {
  readonly link: LinkConfig;
  /** Most time to open a connection, log-in included, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** The server's own limit for one statement, in milliseconds. */
  readonly statementTimeoutMs: number;
}

/** A cancelled read leaves nothing in doubt. A cancelled commit may: it is not waited for on the standbys any more. */
const READ = /^\s*select\b/i;
/** What the server takes to notice that a statement's time is over. */
const MARGIN_MS = 500;
const CANCEL_CODE = 80_877_102;
const TLS_CODE = 80_877_103;

/**
 * Gives up a connection whose server may still be at work. The backend is notified twice: by the end of the stream,
 * which it sees when it next looks (`client_connection_check_interval`) or is done, and for a read by a cancel request.
 *
 * @returns when the backend has hung up, or its statement's time is over
 */
export async function leaveServer(
  { socket, stream, key }: AbandonedLink,
  { text, elapsedMs }: AbandonedWork,
  { link, connectTimeoutMs, statementTimeoutMs }: LinkLimits,
): Promise<void> {
  if (socket.destroyed) return;
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
    time.setTimeout(resolve, Math.max(statementTimeoutMs - elapsedMs, 0) + MARGIN_MS).unref();
  });
  // The remaining data is discarded, but must be read so that the server can finish.
  stream.removeAllListeners('data');
  stream.resume();
  socket.unref();
  stream.end();
  if (key !== undefined && text !== undefined && READ.test(text))
    sendCancelRequest(link, key, connectTimeoutMs);
  await closed;
  socket.destroy();
}

/** A cancel request needs a connection of its own, which the server closes without a word. Failures change nothing. */
function sendCancelRequest(link: LinkConfig, key: BackendKey, timeoutMs: number): void {
  const socket = new Socket();
  socket.unref();
  const timer = time.setTimeout(() => socket.destroy(), timeoutMs).unref();
  socket.on('error', () => {});
  socket.once('close', () => time.clearTimeout(timer));
  const { host = 'localhost', port = 5432, ssl } = link;
  socket.connect(port, host, () => {
    if (ssl === undefined || ssl === false) socket.end(message(CANCEL_CODE, key.processID, key.secretKey));
    else socket.write(message(TLS_CODE));
  });
  socket.once('data', (answer) => {
    if (answer.toString('latin1') !== 'S') {
      socket.destroy();
      return;
    }
    const options = typeof ssl === 'object' ? ssl : {};
    const secure = connectTls({ ...options, socket, host }, () => {
      secure.end(message(CANCEL_CODE, key.processID, key.secretKey));
    });
    secure.on('error', () => socket.destroy());
  });
}

/** Length, code and further numbers of four bytes each. */
function message(...numbers: readonly number[]): Buffer {
  const buffer = Buffer.alloc(4 + 4 * numbers.length);
  buffer.writeInt32BE(buffer.length, 0);
  for (const [index, number] of numbers.entries()) buffer.writeInt32BE(number, 4 + 4 * index);
  return buffer;
}
