import { once } from 'node:events';
import { chmodSync, realpathSync, rmSync } from 'node:fs';
import {
  constants,
  createServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { relative } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type LoopTime, loopTime } from '../concurrency/loop-time.js';
import { messageOf } from '../errors.js';

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

/** The path of requests: another version of the protocol gets another one, and is refused. */
export const OPERATORS_PATH = '/operators/1';
const { HTTP_STATUS_OK, HTTP_STATUS_NOT_FOUND, HTTP_STATUS_INTERNAL_SERVER_ERROR } = constants;
/** Maximum length of a Unix domain socket's path on all systems, in bytes. */
export const LONGEST_PATH = 103;

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

/**
 * A Unix domain socket next to the data directory, through which operators' commands use the database while this
 * process has it open. They share one session: a command holds it for one statement or one transaction at a time.
 * Requests of HTTP/2 contain messages of PostgreSQL's protocol; all requests of a command use one connection.
 */
export class OperatorsSocket {
  readonly #server: Http2Server = createServer();
  readonly #commands = new Set<ServerHttp2Session>();

  private constructor(take: TakeSession, holding: LoopTime) {
    this.#server.on('session', (command) => {
      const caller = new Caller(command, take, holding);
      this.#commands.add(command);
      command.on('error', () => command.destroy());
      command.on('close', () => {
        this.#commands.delete(command);
        caller.end();
      });
      command.on('stream', (request, headers) => {
        request.on('error', () => {});
        if (headers[':path'] === OPERATORS_PATH) caller.take(request);
        else answer(request, HTTP_STATUS_NOT_FOUND, Buffer.from(OTHER_VERSION));
      });
    });
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
    for (const command of this.#commands) command.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

const OTHER_VERSION = 'The process that has the database open runs another version of fw-actions';

function answer(request: ServerHttp2Stream, status: number, bytes: Uint8Array): void {
  if (request.destroyed) return;
  request.respond({ ':status': status });
  request.end(bytes);
}

/** One connected command. Its requests run one after the other. */
class Caller {
  readonly #command: ServerHttp2Session;
  readonly #take: TakeSession;
  readonly #holding: LoopTime;
  #session: OperatorsSession | undefined;
  #last: Promise<void> = Promise.resolve();
  /** Ends the measurement of the time that the session is held. */
  #stopHolding: () => void = () => {};
  #hasEnded = false;

  constructor(command: ServerHttp2Session, take: TakeSession, holding: LoopTime) {
    this.#command = command;
    this.#take = take;
    this.#holding = holding;
  }

  take(request: ServerHttp2Stream): void {
    this.#stopHolding();
    this.#last = this.#last.then(() => this.#run(request));
  }

  end(): void {
    this.#hasEnded = true;
    this.#stopHolding();
    void this.#last.then(() => this.#release());
  }

  async #run(request: ServerHttp2Stream): Promise<void> {
    if (this.#hasEnded) return;
    try {
      const messages = await buffer(request);
      this.#session ??= await this.#take();
      const bytes = await this.#session.exchange(messages);
      if (await this.#session.isNeeded()) this.#hold();
      else this.#release();
      answer(request, HTTP_STATUS_OK, bytes);
    } catch (error) {
      this.#release();
      answer(request, HTTP_STATUS_INTERNAL_SERVER_ERROR, Buffer.from(messageOf(error)));
    }
  }

  #hold(): void {
    if (this.#hasEnded) return;
    this.#stopHolding = this.#holding.after(HOLD_MS, () => this.#command.destroy());
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
