import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { ProjectPaths } from '../schema/paths.js';
import { isSystemError } from '../system-error.js';
import { LOCK_KINDS } from './lock-kind.js';

/** One lock file as a run found it. */
export interface LockText {
  /** Project-relative path. */
  readonly path: string;
  /** undefined if the file does not exist or cannot be read. */
  readonly text: string | undefined;
  /** Code of the system's error if the file cannot be read. */
  readonly unreadable?: string;
}

/** Reads a project's lock files, in the order of `LOCK_KINDS`. */
export function readLocks(projectDirectory: string, { migrations }: ProjectPaths): readonly LockText[] {
  return LOCK_KINDS.map(({ fileName }) => {
    const path = posix.join(migrations, fileName);
    const file = join(projectDirectory, path);
    try {
      return { path, text: existsSync(file) ? readFileSync(file, 'utf8') : undefined };
    } catch (error) {
      if (!isSystemError(error)) throw error;
      return { path, text: undefined, unreadable: error.code ?? error.message };
    }
  });
}
