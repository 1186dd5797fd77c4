import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import pg from 'pg';
import { time } from '../concurrency/time.js';
import type { ConnectionConfig } from './client-config.js';

/** Identifies a backend in a cancel request. */
export interface BackendKey {
  readonly processID: number;
  readonly secretKey: number;
}

/** A connection that is being abandoned. */
export interface AbandonedConnection {
  readonly socket: Socket;
  /** The stream of its messages: the socket, or TLS on top of it. */
  readonly stream: Duplex;
  readonly key: BackendKey | undefined;
  /** Text of the statement on which the server works; undefined: a script, or none. */
  readonly text: string | undefined;
  /** Time since it was sent. */
  readonly elapsedMs: number;
}

export interface ConnectionLimits {
  readonly config: ConnectionConfig;
  /** Time limit for opening a connection, including log-in, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** The server's own limit for one statement, in milliseconds. */
  readonly statementTimeoutMs: number;
}

/**
 * A cancelled read has no outcome that could be in doubt. A cancelled commit may: the server no longer waits for its
 * standbys.
 */
const READ = /^\s*select\b/i;
/** Time that the server needs to notice that a statement's time is over, in milliseconds. */
const MARGIN_MS = 500;

/**
 * Abandons a connection whose server may still be working. The backend notices the end of the stream when it next
 * checks (`client_connection_check_interval`) or has finished; for a read, a cancel request is sent too.
 *
 * @returns a promise that resolves when the backend has disconnected, or when its statement's time is over
 */
export async function leaveServer(
  { socket, stream, key, text, elapsedMs }: AbandonedConnection,
  { config, connectTimeoutMs, statementTimeoutMs }: ConnectionLimits,
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
    sendCancelRequest(config, key, connectTimeoutMs);
  await closed;
  socket.destroy();
}

/** Methods of node-postgres's connection that its types lack. */
interface ConnectionMethods {
  connect?(port: number, host: string): void;
  requestSsl?(): void;
  cancel?(processID: number, secretKey: number): void;
}

/**
 * A cancel request needs its own connection, which the server closes without an answer. Failures are ignored, also to
 * read a certificate that is being replaced.
 */
function sendCancelRequest(
  config: ConnectionConfig,
  { processID, secretKey }: BackendKey,
  timeoutMs: number,
): void {
  const socket = new Socket().unref();
  const timer = time.setTimeout(() => socket.destroy(), timeoutMs).unref();
  socket.once('close', () => time.clearTimeout(timer));
  try {
    const { host = 'localhost', port = 5432, ssl = false } = config;
    const connection: pg.Connection & ConnectionMethods = new pg.Connection({ stream: () => socket, ssl });
    const cancel = (): void => {
      connection.cancel?.(processID, secretKey);
      connection.stream.end();
    };
    connection.on('connect', () => (ssl === false ? cancel() : connection.requestSsl?.()));
    connection.on('sslconnect', cancel);
    connection.on('error', () => socket.destroy());
    connection.connect?.(port, host);
  } catch {
    socket.destroy();
  }
}
