import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const LOCK_NAME = '.fw-gen.lock';
const RETRY_MS = 25;
const PATIENCE_MS = 10_000;

/** Another run holds the folder and does not finish. */
export class FolderLockedError extends Error {
  readonly pid: number;

  constructor(pid: number) {
    super(`fw-gen with process id ${pid} is writing there`);
    this.pid = pid;
  }
}

/**
 * Runs `work` while no other run of this program writes to the folder, so that two runs at once do not mix their
 * files. The lock of a process that died is taken over.
 *
 * @throws FolderLockedError after ten seconds @throws the error of the file system
 */
export async function withFolderLock<T>(folder: string, work: () => T): Promise<T> {
  mkdirSync(folder, { recursive: true });
  const lock = join(folder, LOCK_NAME);
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const holder = tryLock(lock);
    if (holder === undefined) break;
    if (!isAlive(holder)) rmSync(lock, { force: true });
    else if (Date.now() > deadline) throw new FolderLockedError(holder);
    else await sleep(RETRY_MS);
  }
  try {
    return work();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** Takes the lock. @returns undefined if it was free, else the process id that has it */
function tryLock(lock: string): number | undefined {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return undefined;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    return readHolder(lock);
  }
}

function readHolder(lock: string): number {
  try {
    return Number(readFileSync(lock, 'utf8')) || process.pid;
  } catch {
    // Released between the two looks: held by nobody, which the next look finds out.
    return process.pid;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
