import { accessSync, constants, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** A file system in memory: a server that syncs each commit and each dropped database runs there at half the cost. */
const IN_MEMORY = '/dev/shm';
/** The largest run keeps some hundred databases of 8 MB, and the log of several servers. */
const NEEDED_BYTES = 6 * 1_024 ** 3;

/** Where test servers keep their data: in memory where there is room, otherwise in the folder for temporary files. */
export function dataFolder(): string {
  try {
    accessSync(IN_MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize >= NEEDED_BYTES ? IN_MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}
