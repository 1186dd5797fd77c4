import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { basename, join } from 'node:path';
import { sleep } from '../concurrency/time.js';
import { EmbeddedDatabaseLockedError } from '../errors.js';
import { LONGEST_PATH } from './operators-socket.js';

const PREFIX = 'fw-actions-lock';
const CLAIM = 'claim';
const HELD = 'held';
const ATTEMPTS = 20;

interface Mark {
  readonly file: string;
  readonly pid: number;
  /** Distinguishes two processes with the same pid; `0` if the system does not report it. */
  readonly identity: string;
  readonly state: string;
}

/** The file of this process, and what listens on it if it is a socket. */
interface Held {
  readonly file: string;
  readonly socket: Server | undefined;
}

/**
 * Exclusive access to a directory, among the processes of one machine.
 *
 * A process announces itself with its own file, then reads the other files. It removes the file of a dead process. It
 * refuses to start if the process of another file holds the lock. Two processes that have only announced themselves
 * both withdraw and retry. File names are never reused, so removing a dead process's file cannot remove a live one.
 *
 * The files are sockets where possible: they accept connections as long as the process lives, also from containers, in
 * which its pid means nothing.
 */
export class DirectoryLock {
  /** Files of this process. One listener removes them all, because Node.js warns of a leak above ten. */
  static readonly #held = new Set<string>();
  static readonly #onExit = (): void => {
    for (const file of DirectoryLock.#held) rmSync(file, { force: true });
  };
  readonly #own: Held;

  private constructor(own: Held) {
    this.#own = own;
    if (DirectoryLock.#held.size === 0) process.on('exit', DirectoryLock.#onExit);
    DirectoryLock.#held.add(own.file);
  }

  /**
   * Creates the directory if it is missing.
   *
   * @throws EmbeddedDatabaseLockedError naming the directory and the process that holds it
   */
  static async acquire(directory: string): Promise<DirectoryLock> {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const folder = realpathSync(directory);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const own = await tryToHold(folder);
      if (own !== undefined) return new DirectoryLock(own);
      await sleep(5 + Math.random() * 20 * attempt);
    }
    throw new EmbeddedDatabaseLockedError(
      `${folder} is being opened by several processes at once; try again`,
    );
  }

  /** Calls after the first have no effect. */
  release(): void {
    const { file, socket } = this.#own;
    DirectoryLock.#held.delete(file);
    if (DirectoryLock.#held.size === 0) process.off('exit', DirectoryLock.#onExit);
    socket?.close();
    rmSync(file, { force: true });
  }
}

/** The file that holds the lock. Undefined if another process has announced itself too. */
async function tryToHold(folder: string): Promise<Held | undefined> {
  // The path of a socket must be short.
  const descriptor = process.platform === 'linux' ? openSync(folder, 'r') : undefined;
  try {
    return await tryToHoldAt(folder, descriptor === undefined ? folder : `/proc/self/fd/${descriptor}`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** @param near another path of the folder */
async function tryToHoldAt(folder: string, near: string): Promise<Held | undefined> {
  const stem = `${PREFIX}.${process.pid}.${identityOf(process.pid)}.${randomBytes(6).toString('hex')}`;
  const [claim, file] = [join(folder, `${stem}.${CLAIM}`), join(folder, `${stem}.${HELD}`)];
  const socket = await announce(claim, near);
  const rivals: Mark[] = [];
  for (const mark of marksIn(folder)) {
    if (mark.file === claim) continue;
    if (await isAlive(mark, near)) rivals.push(mark);
    else rmSync(mark.file, { force: true });
  }
  if (rivals.length === 0) {
    renameSync(claim, file);
    return { file, socket };
  }
  socket?.close();
  rmSync(claim, { force: true });
  const holder = rivals.find((rival) => rival.state === HELD);
  if (holder !== undefined) throw refusal(folder, holder);
  return undefined;
}

/** Creates the file of this process: a socket if the system and the file system have them. */
async function announce(file: string, near: string): Promise<Server | undefined> {
  const path = pathAt(file, near);
  const server = createServer((other) => other.destroy()).unref();
  try {
    if (path !== undefined) {
      await once(server.listen({ path, exclusive: true }), 'listening');
      return server.on('error', () => {});
    }
  } catch {
    // As on a folder that a virtual machine shares with its host.
  }
  closeSync(openSync(file, 'wx', 0o600));
  return undefined;
}

/** Undefined: sockets cannot have it. */
function pathAt(file: string, near: string): string | undefined {
  const path = join(near, basename(file));
  return process.platform === 'win32' || Buffer.byteLength(path) > LONGEST_PATH ? undefined : path;
}

function marksIn(folder: string): Mark[] {
  return readdirSync(folder).flatMap((name): Mark[] => {
    const [prefix, pid, identity, , state] = name.split('.');
    if (prefix !== PREFIX || identity === undefined || state === undefined) return [];
    return [{ file: join(folder, name), pid: Number(pid), identity, state }];
  });
}

async function isAlive(mark: Mark, near: string): Promise<boolean> {
  const path = pathAt(mark.file, near);
  try {
    if (path === undefined || !lstatSync(mark.file).isSocket()) return isRunning(mark);
    const connection = connect(path);
    await once(connection, 'connect').finally(() => connection.destroy());
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ECONNREFUSED') return false;
    // Of another user. Any other file was renamed or removed just now.
    if (code === 'EACCES') return isRunning(mark);
  }
  return true;
}

/** Whether the process is one of this machine, or of this container. */
function isRunning(mark: Mark): boolean {
  try {
    process.kill(mark.pid, 0);
  } catch (error) {
    // A process of another user cannot be signalled, but it exists.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  const identity = identityOf(mark.pid);
  return identity === '0' || mark.identity === '0' || identity === mark.identity;
}

/** Boot and start time of a process on Linux, because pids are soon reused. */
function identityOf(pid: number): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8);
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses, which may itself contain spaces and parentheses.
    const startTime = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    return startTime === undefined ? '0' : `${boot}-${startTime}`;
  } catch {
    return '0';
  }
}

function refusal(folder: string, mark: Mark): EmbeddedDatabaseLockedError {
  const { pid } = mark;
  const other = `the process with pid ${pid}${isRunning(mark) ? '' : ' in another container'}`;
  const holder = pid === process.pid && isRunning(mark) ? `this process (pid ${pid})` : other;
  return new EmbeddedDatabaseLockedError(
    `The embedded database in ${folder} is in use by ${holder}. ` +
      'One process can have it open at a time: stop the other one, or use PostgreSQL.',
  );
}
