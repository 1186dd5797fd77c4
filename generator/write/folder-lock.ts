import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const LOCK_NAME = '.fw-gen.lock';
const RETRY_MS = 25;
const PATIENCE_MS = 10_000;
/**
 * A lock without a process id is just being written, or its writer was killed between two system calls. It expires
 * after this time, in milliseconds.
 */
const UNWRITTEN_MS = 1_000;

/** Another run holds the lock of the folder and does not finish. */
export class FolderLockedError extends Error {
  readonly pid: number;

  constructor(pid: number) {
    super(`Another fw-gen (process id ${pid}) is writing to this folder`);
    this.pid = pid;
  }
}

/**
 * Runs `work` while no other run of this program writes to the folder, so that concurrent runs do not mix their files.
 * Takes over the lock of a dead process.
 *
 * @throws FolderLockedError after ten seconds
 * @throws the error of the file system
 */
export async function withFolderLock<T>(folder: string, work: () => T): Promise<T> {
  mkdirSync(folder, { recursive: true });
  const lock = join(folder, LOCK_NAME);
  const deadline = Date.now() + PATIENCE_MS;
  while (!create(lock)) {
    const holder = holderOf(lock);
    if (holder === 'dead') takeOver(lock);
    else if (holder !== 'free' && Date.now() > deadline) throw new FolderLockedError(holder);
    await sleep(RETRY_MS);
  }
  try {
    return work();
  } finally {
    rmSync(lock, { force: true });
  }
}

/**
 * Deletes a dead process's lock. One run at a time does so; a second one could delete the lock that the first has taken
 * since.
 */
function takeOver(lock: string): void {
  const turn = `${lock}.takeover`;
  if (!create(turn)) {
    if (ageMs(turn) > PATIENCE_MS) rmSync(turn, { force: true });
    return;
  }
  try {
    if (holderOf(lock) === 'dead') rmSync(lock, { force: true });
  } finally {
    rmSync(turn, { force: true });
  }
}

/** Creates the file if it does not exist. @returns whether it did */
function create(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

function holderOf(lock: string): number | 'dead' | 'free' {
  let text: string;
  try {
    text = readFileSync(lock, 'utf8');
  } catch {
    // Released between the two checks.
    return 'free';
  }
  const pid = Number(text);
  if (!Number.isInteger(pid) || pid <= 0) return ageMs(lock) > UNWRITTEN_MS ? 'dead' : 'free';
  // This process holds no lock while it waits. A dead process of another container may have had its id.
  return pid !== process.pid && isAlive(pid) ? pid : 'dead';
}

function ageMs(file: string): number {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats === undefined ? 0 : Date.now() - stats.mtimeMs;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
