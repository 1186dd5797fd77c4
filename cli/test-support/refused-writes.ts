import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Lets `fs.writeFileSync` fail for certain paths while `work` runs, as a full disk or a missing right does.
 *
 * @param refuses the error for a path; undefined: the file is written
 */
export async function withRefusedWrites<T>(
  refuses: (path: string) => NodeJS.ErrnoException | undefined,
  work: () => T | Promise<T>,
): Promise<T> {
  const { writeFileSync } = fs;
  fs.writeFileSync = (path, ...rest) => {
    const error = refuses(String(path));
    if (error === undefined) return writeFileSync(path, ...rest);
    // A full disk is noticed after the file has been created.
    if (error.code === 'ENOSPC') writeFileSync(path, '', rest[1]);
    throw error;
  };
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    fs.writeFileSync = writeFileSync;
    syncBuiltinESMExports();
  }
}
