import { once } from 'node:events';
import { type ClientHttp2Session, connect, constants } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import type { PGlite } from '@electric-sql/pglite';
import { OPERATORS_PATH, socketPath } from './operators-socket.js';

const { HTTP_STATUS_OK } = constants;

/** The connection to an engine: in this process, or in the one that has it open. */
export interface EngineWire {
  /** True if another process has the engine: its session is shared, and keeps no prepared statements or settings. */
  readonly isRemote: boolean;
  /** @returns the messages of the answer @throws an error if the engine has crashed, or its process has ended */
  send(messages: Uint8Array): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** An engine in this process. */
export function localWire(database: PGlite): EngineWire {
  return {
    isRemote: false,
    send: (messages) => database.execProtocolRaw(messages),
    close: () => database.close(),
  };
}

/**
 * The engine of another process, through the socket next to its directory.
 *
 * @returns undefined if no process listens there
 */
export async function remoteWire(directory: string): Promise<EngineWire | undefined> {
  const path = socketPath(directory);
  if (path === undefined) return undefined;
  const session = connect('http://localhost', { createConnection: () => connectSocket(path) });
  try {
    await once(session, 'connect');
  } catch {
    return undefined;
  }
  // Calls report it.
  session.on('error', () => {});
  return new RemoteWire(session);
}

/** One connection for all calls, because it holds the session: a second one would not see its transaction. */
class RemoteWire implements EngineWire {
  readonly isRemote = true;
  readonly #session: ClientHttp2Session;

  constructor(session: ClientHttp2Session) {
    this.#session = session;
  }

  send(messages: Uint8Array): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const hasEnded = (): void =>
        reject(new Error('The process that has the database open has ended, or is still starting'));
      if (this.#session.destroyed) return hasEnded();
      const call = this.#session.request({ ':method': 'POST', ':path': OPERATORS_PATH });
      let status: number | undefined;
      const received: Buffer[] = [];
      call.on('response', (headers) => {
        status = headers[':status'];
      });
      call.on('data', (bytes: Buffer) => received.push(bytes));
      call.on('end', () => {
        const bytes = Buffer.concat(received);
        // The parser keeps a reference to its input, so it gets a copy.
        if (status === HTTP_STATUS_OK) resolve(Uint8Array.from(bytes));
        else if (status !== undefined) reject(new Error(bytes.toString()));
      });
      call.on('error', hasEnded);
      call.on('close', hasEnded);
      call.end(messages);
    });
  }

  close(): Promise<void> {
    this.#session.destroy();
    return Promise.resolve();
  }
}
