import { randomBytes } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { sleep } from '../concurrency/time.js';
import { EmbeddedDatabaseLockedError } from '../errors.js';

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

/**
 * Exclusive access to a directory, among the processes of one machine.
 *
 * A process announces itself with its own file, then reads the other files. It removes the file of a dead process. It
 * refuses to start if the process of another file holds the lock. Two processes that have only announced themselves
 * both withdraw and retry. File names are never reused, so removing a dead process's file cannot remove a live one.
 */
export class DirectoryLock {
  /** Files of this process. One listener removes them all, because Node.js warns of a leak above ten. */
  static readonly #held = new Set<string>();
  static readonly #onExit = (): void => {
    for (const file of DirectoryLock.#held) rmSync(file, { force: true });
  };
  readonly #file: string;

  private constructor(file: string) {
    this.#file = file;
    if (DirectoryLock.#held.size === 0) process.on('exit', DirectoryLock.#onExit);
    DirectoryLock.#held.add(file);
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
      const file = tryToHold(folder);
      if (file !== undefined) return new DirectoryLock(file);
      await sleep(5 + Math.random() * 20 * attempt);
    }
    throw new EmbeddedDatabaseLockedError(
      `${folder} is being opened by several processes at once; try again`,
    );
  }

  /** Calls after the first have no effect. */
  release(): void {
    DirectoryLock.#held.delete(this.#file);
    if (DirectoryLock.#held.size === 0) process.off('exit', DirectoryLock.#onExit);
    rmSync(this.#file, { force: true });
  }
}

/** The file that holds the lock. Undefined if another process has announced itself too. */
function tryToHold(folder: string): string | undefined {
  const stem = join(
    folder,
    `${PREFIX}.${process.pid}.${identityOf(process.pid)}.${randomBytes(6).toString('hex')}`,
  );
  const claim = `${stem}.${CLAIM}`;
  closeSync(openSync(claim, 'wx', 0o600));
  const others = marksIn(folder).filter((mark) => mark.file !== claim);
  const rivals = others.filter(isAlive);
  for (const dead of others) if (!rivals.includes(dead)) rmSync(dead.file, { force: true });
  if (rivals.length === 0) {
    renameSync(claim, `${stem}.${HELD}`);
    return `${stem}.${HELD}`;
  }
  rmSync(claim, { force: true });
  const holder = rivals.find((rival) => rival.state === HELD);
  if (holder !== undefined) throw refusal(folder, holder.pid);
  return undefined;
}

function marksIn(folder: string): Mark[] {
  return readdirSync(folder).flatMap((name): Mark[] => {
    const [prefix, pid, identity, , state] = name.split('.');
    if (prefix !== PREFIX || identity === undefined || state === undefined) return [];
    return [{ file: join(folder, name), pid: Number(pid), identity, state }];
  });
}

function isAlive(mark: Mark): boolean {
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

function refusal(folder: string, pid: number): EmbeddedDatabaseLockedError {
  const holder = pid === process.pid ? `this process (pid ${pid})` : `the process with pid ${pid}`;
  return new EmbeddedDatabaseLockedError(
    `The embedded database in ${folder} is in use by ${holder}. ` +
      'One process can have it open at a time: stop the other one, or use PostgreSQL.',
  );
}
