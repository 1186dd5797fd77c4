import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { ProjectPaths } from '../schema/paths.js';
import { isSystemError } from '../system-error.js';
import { LOCK_KINDS, type LockKind } from './lock-kind.js';

/** One lock file as a run found it. */
export interface LockText {
  readonly kind: LockKind;
  /** Project-relative path. */
  readonly path: string;
  /** undefined if the file does not exist or cannot be read. */
  readonly text: string | undefined;
  /** Code of the system's error if the file cannot be read. */
  readonly unreadable?: string;
}

/** Reads a project's lock files. */
export function readLocks(projectDirectory: string, { migrations }: ProjectPaths): readonly LockText[] {
  return LOCK_KINDS.map((kind) => {
    const path = posix.join(migrations, kind.fileName);
    const file = join(projectDirectory, path);
    try {
      return { kind, path, text: existsSync(file) ? readFileSync(file, 'utf8') : undefined };
    } catch (error) {
      if (!isSystemError(error)) throw error;
      return { kind, path, text: undefined, unreadable: error.code ?? error.message };
    }
  });
}
