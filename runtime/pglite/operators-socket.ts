import { once } from 'node:events';
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { type LoopTime, loopTime } from '../concurrency/loop-time.js';
import { messageOf } from '../errors.js';
import { HELLO, readFrames, socketPath, writeFrame } from './operators-wire.js';

/** The database's only session, held by one operator's command. */
export interface OperatorsSession {
  /** Runs messages of PostgreSQL's protocol that end with Sync, or a simple query. */
  exchange(messages: Uint8Array): Promise<Uint8Array>;
  /** Whether the next message needs this session: a transaction is open, or a lock is held. */
  isNeeded(): Promise<boolean>;
  /** Releases the session, without the command's settings, locks and transaction. */
  end(): void;
}

/** Takes the session when the server's own statements release it. */
export type TakeSession = () => Promise<OperatorsSession>;

/**
 * A command that holds the session and sends nothing for this time is disconnected, because the server waits for the
 * session, in milliseconds. Only time in which the event loop could have read its messages counts.
 */
const HOLD_MS = 5_000;
/** Permissions of the socket: only for its owner. */
const OWNER_ONLY = 0o600;

/**
 * A Unix domain socket next to the data directory, through which operators' commands use the database while this
 * process has it open. They share one session: a command holds it for one statement or one transaction at a time.
 */
export class OperatorsSocket {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(take: TakeSession, holding: LoopTime) {
    this.#server = createServer((socket) => this.#serve(socket, new Caller(socket, take, holding)));
  }

  /**
   * @param directory locked by this process, so that an existing socket is stale
   * @param holding measures how long commands hold the session
   * @returns undefined if the system has no such sockets, or if its path is too long
   * @throws the system's error
   */
  static async listen(
    directory: string,
    take: TakeSession,
    holding: LoopTime = loopTime,
  ): Promise<OperatorsSocket | undefined> {
    const path = socketPath(directory);
    if (path === undefined) return undefined;
    rmSync(path, { force: true });
    const socket = new OperatorsSocket(take, holding);
    const server = socket.#server;
    asOwner(() => server.listen(path));
    await once(server, 'listening');
    chmodSync(path, OWNER_ONLY);
    server.unref();
    return socket;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #serve(socket: Socket, caller: Caller): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      this.#sockets.delete(socket);
      caller.end();
    });
    socket.write(HELLO);
    readFrames(
      socket,
      ({ bytes }) => caller.take(bytes),
      () => socket.destroy(),
    );
  }
}

/** One connected command. Its messages run one after the other. */
class Caller {
  readonly #socket: Socket;
  readonly #take: TakeSession;
  readonly #holding: LoopTime;
  #session: OperatorsSession | undefined;
  #last: Promise<void> = Promise.resolve();
  /** Ends the measurement of the time that the session is held. */
  #stopHolding: () => void = () => {};
  #hasEnded = false;

  constructor(socket: Socket, take: TakeSession, holding: LoopTime) {
    this.#socket = socket;
    this.#take = take;
    this.#holding = holding;
  }

  take(messages: Uint8Array): void {
    this.#stopHolding();
    this.#last = this.#last.then(() => this.#run(messages));
  }

  end(): void {
    this.#hasEnded = true;
    this.#stopHolding();
    void this.#last.then(() => this.#release());
  }

  async #run(messages: Uint8Array): Promise<void> {
    if (this.#hasEnded) return;
    try {
      this.#session ??= await this.#take();
      const bytes = await this.#session.exchange(messages);
      if (await this.#session.isNeeded()) this.#hold();
      else this.#release();
      writeFrame(this.#socket, { kind: 'messages', bytes });
    } catch (error) {
      this.#release();
      const reason = messageOf(error);
      writeFrame(this.#socket, { kind: 'failure', bytes: Buffer.from(reason) });
    }
  }

  #hold(): void {
    if (this.#hasEnded) return;
    this.#stopHolding = this.#holding.after(HOLD_MS, () => this.#socket.destroy());
  }

  #release(): void {
    this.#session?.end();
    this.#session = undefined;
  }
}

/** Prevents connections of other users between `bind` and `chmod`. Worker threads cannot set a umask. */
function asOwner(bind: () => void): void {
  let before: number | undefined;
  try {
    before = process.umask(0o177);
  } catch {
    before = undefined;
  }
  try {
    bind();
  } finally {
    if (before !== undefined) process.umask(before);
  }
}
