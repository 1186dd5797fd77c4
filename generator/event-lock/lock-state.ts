import type { ProjectPaths } from '../schema/paths.js';
import { isSystemError } from '../system-error.js';
import { readLocks } from './lock-shapes.js';

/** Texts of the locks; like none that was emitted from if one cannot be read, which the checks report. */
export function lockState(
  projectDirectory: string,
  paths: ProjectPaths,
): readonly (string | undefined)[] | { readonly unreadable: true } {
  try {
    return readLocks(projectDirectory, paths);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return { unreadable: true };
  }
}

/** Whether one of these names is locked, or may be: whatever changes in its shape must be checked. */
export function isAnyLocked(
  projectDirectory: string,
  paths: ProjectPaths,
  names: readonly string[],
): boolean {
  if (names.length === 0) return false;
  const locks = lockState(projectDirectory, paths);
  if ('unreadable' in locks) return true;
  const keys = names.map((name) => JSON.stringify(`${name}@`).slice(0, -1));
  return locks.some((text) => keys.some((key) => text?.includes(key) === true));
}
