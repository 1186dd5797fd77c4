import { accessSync, constants, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** An in-memory file system: a server that syncs each commit, and drops databases, runs there at half the cost. */
const IN_MEMORY = '/dev/shm';
/** The largest run stores some hundred databases of 8 MB, and the logs of several servers. */
const NEEDED_BYTES = 6 * 1_024 ** 3;

/** The data folder of test servers: in memory if there is room, otherwise in the folder for temporary files. */
export function dataFolder(): string {
  try {
    accessSync(IN_MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize >= NEEDED_BYTES ? IN_MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}
