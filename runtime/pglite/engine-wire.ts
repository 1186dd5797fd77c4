import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { PGlite } from '@electric-sql/pglite';
import type { PgliteModule } from './load-pglite.js';
import { type Frame, HELLO, readFrames, socketPath, writeFrame } from './operators-wire.js';

export type Message = Awaited<ReturnType<PGlite['execProtocolStream']>>[number];

/** The connection to an engine: in this process, or in the one that has it open. */
export interface EngineWire {
  /** True if another process has the engine: its session is shared, and keeps no prepared statements or settings. */
  readonly isRemote: boolean;
  /** @throws an error if the engine has crashed, or its process has ended */
  send(messages: Uint8Array): Promise<readonly Message[]>;
  /** As `send`, returning the answer without parsing it. */
  sendRaw(messages: Uint8Array): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** An engine in this process. */
export function localWire(database: PGlite): EngineWire {
  return {
    isRemote: false,
    send: (messages) => database.execProtocolStream(messages, { throwOnError: false }),
    sendRaw: (messages) => database.execProtocolRaw(messages),
    close: () => database.close(),
  };
}

/**
 * The engine of another process, through the socket next to its directory.
 *
 * @returns undefined if no process listens there
 */
export async function remoteWire(module: PgliteModule, directory: string): Promise<EngineWire | undefined> {
  const path = socketPath(directory);
  if (path === undefined) return undefined;
  const socket = connect(path);
  try {
    await once(socket, 'connect');
  } catch {
    return undefined;
  }
  return new RemoteWire(module, socket);
}

interface Waiting {
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (error: Error) => void;
}

class RemoteWire implements EngineWire {
  readonly isRemote = true;
  readonly #module: PgliteModule;
  readonly #socket: Socket;
  readonly #waiting: Waiting[] = [];

  constructor(module: PgliteModule, socket: Socket) {
    this.#module = module;
    this.#socket = socket;
    readFrames(
      socket,
      (frame) => this.#take(frame),
      () =>
        this.#fail(new Error('The process that has the database open runs another version of fw-actions')),
    );
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('The process that has the database open has ended')));
    socket.write(HELLO);
  }

  sendRaw(messages: Uint8Array): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed)
        return reject(new Error('The process that has the database open has ended'));
      this.#waiting.push({ resolve, reject });
      writeFrame(this.#socket, { kind: 'messages', bytes: messages });
    });
  }

  async send(messages: Uint8Array): Promise<readonly Message[]> {
    const bytes = await this.sendRaw(messages);
    const found: Message[] = [];
    // The parser keeps a reference to its input, so it gets a copy.
    new this.#module.protocol.Parser().parse(Uint8Array.from(bytes), (message) => void found.push(message));
    return found;
  }

  close(): Promise<void> {
    this.#socket.destroy();
    return Promise.resolve();
  }

  #take({ kind, bytes }: Frame): void {
    const next = this.#waiting.shift();
    if (kind === 'messages') next?.resolve(bytes);
    else next?.reject(new Error(Buffer.from(bytes).toString()));
  }

  #fail(error: Error): void {
    this.#socket.destroy();
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
