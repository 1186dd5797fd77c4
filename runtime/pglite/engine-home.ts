import { existsSync } from 'node:fs';
import { EmbeddedDatabaseLockedError, FwError, messageOf } from '../errors.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import { DirectoryLock } from './directory-lock.js';
import { openFailure } from './open-failure.js';
import { OperatorsSocket, type TakeSession } from './operators-socket.js';
import { PgliteEngine } from './pglite-engine.js';

/** Called with messages for operators. */
export type Warn = (message: string) => void;

/**
 * How a process shares its embedded databases with other processes.
 *
 * - `alone`: it does not share them.
 * - `serve`: operators' commands may use them meanwhile, through a socket next to the directory.
 * - `join`: it uses them through that socket if another process has them open.
 * - `visit`: it uses them only through that socket. It never opens them, which would keep a server from starting.
 */
export type EmbeddedUse = 'alone' | 'serve' | 'join' | 'visit';

/** Options of an `EngineHome`. */
export interface HomeOptions {
  /** Undefined: in memory. */
  readonly directory: string | undefined;
  readonly warn: Warn;
  readonly use: EmbeddedUse;
  /** Takes the session for commands of other processes. */
  readonly take: TakeSession;
}

/** Owns the engine, from the first session to the end, and the lock of its directory. */
export class EngineHome {
  readonly #options: HomeOptions;
  #socket: OperatorsSocket | undefined;
  #lock: DirectoryLock | undefined;
  #engine: PgliteEngine | undefined;
  /** Turns to `visit` after `join`, because the process that had the database may be about to open it again. */
  #use: EmbeddedUse;

  constructor(options: HomeOptions) {
    this.#options = options;
    this.#use = options.use;
  }

  get inTransaction(): boolean {
    return this.#engine?.inTransaction === true;
  }

  /** See `PgliteEngine.exchange`. The caller must hold the session. */
  exchange(messages: Uint8Array): Promise<Uint8Array> {
    if (this.#engine === undefined) throw new TypeError('The engine has not been started');
    return this.#engine.exchange(messages);
  }

  /** The engine, cleared for a new session. Calls do not overlap, because the pool has one connection. */
  async cleanEngine(): Promise<PgliteEngine> {
    this.#engine = this.#engine === undefined ? await this.#start() : await this.#cleaned(this.#engine);
    return this.#engine;
  }

  async #cleaned(engine: PgliteEngine): Promise<PgliteEngine> {
    const { directory } = this.#options;
    // Committed data is in the directory, so the engine can be opened again. An in-memory database is lost.
    if (engine.broken && directory !== undefined)
      return this.#lock === undefined ? this.#start() : PgliteEngine.open(directory);
    await engine.reset();
    return engine;
  }

  async close(): Promise<void> {
    try {
      await this.#socket?.close();
      await this.#engine?.close();
    } finally {
      this.#engine = undefined;
      this.#socket = undefined;
      this.#lock?.release();
      this.#lock = undefined;
    }
  }

  async #start(): Promise<PgliteEngine> {
    const { directory, warn } = this.#options;
    if (this.#use === 'visit') return directory === undefined ? refuseMemory() : joined(directory);
    if (directory === undefined) return PgliteEngine.open(undefined);
    try {
      this.#lock = await DirectoryLock.acquire(directory);
    } catch (error) {
      if (this.#use !== 'join' || !(error instanceof EmbeddedDatabaseLockedError))
        throw error instanceof FwError ? error : openFailure(directory, error);
      const engine = await joined(directory, error);
      this.#use = 'visit';
      return engine;
    }
    warn(POWER_LOSS);
    try {
      const engine = await PgliteEngine.open(directory);
      if (this.#use === 'serve') await this.#listen(directory);
      return engine;
    } catch (error) {
      this.#lock.release();
      throw error;
    }
  }

  /** A server that cannot listen for operators still serves. */
  async #listen(directory: string): Promise<void> {
    let reason = 'the path of its socket is too long';
    try {
      this.#socket ??= await OperatorsSocket.listen(directory, this.#options.take);
      if (this.#socket !== undefined || process.platform === 'win32') return;
    } catch (error) {
      reason = messageOf(error);
    }
    const what = `the embedded database in ${directory} while this process runs`;
    this.#options.warn(`fw-gen cannot use ${what}: ${reason}.`);
  }
}

/** The same text for each database, so that it is logged once. */
const POWER_LOSS =
  'Embedded databases do not force their writes to disk: a power loss may lose acknowledged data. Use PostgreSQL where ' +
  'that matters.';

/** @throws DriverFailure always */
function refuseMemory(): never {
  const message =
    'Only the process that has opened a database in memory (jdbc:pglite:mem:) can see it. Use a file (jdbc:pglite:file:) ' +
    'for this command, or the pages of the server.';
  throw new DriverFailure(message, { phase: 'not-sent', reason: 'unreachable' });
}

/** @throws DriverFailure if no process has the database open @throws `locked` if one does not share it */
async function joined(directory: string, locked?: EmbeddedDatabaseLockedError): Promise<PgliteEngine> {
  const engine = existsSync(directory) ? await PgliteEngine.join(directory) : undefined;
  if (engine !== undefined) return engine;
  if (locked === undefined) {
    const message = `No server has the embedded database in ${directory} open. Start the server, through which this command uses it.`;
    throw new DriverFailure(message, { phase: 'not-sent', reason: 'unreachable' });
  }
  throw new EmbeddedDatabaseLockedError(
    `${locked.message} fw-gen can share it only with a process that runs startServer, and not on Windows.`,
  );
}
