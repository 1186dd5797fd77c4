import { lstatSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** True for an error of the operating system, such as a full disk or a missing permission. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

/**
 * Advice about a failed write.
 *
 * @param path absolute path of the target
 * @param show formats a path for display
 */
export function writeAdvice(
  { code }: NodeJS.ErrnoException,
  path: string,
  show: (path: string) => string,
): string {
  const obstacle = OBSTRUCTED.has(code ?? '') ? inTheWay(path) : undefined;
  if (obstacle === undefined) return 'Check free space and permissions.';
  const { place, kind } = obstacle;
  return `The ${kind} ${show(place)} blocks the path. Move it, or choose another path.`;
}

const OBSTRUCTED: ReadonlySet<string> = new Set(['EEXIST', 'ENOTDIR', 'EISDIR']);

/** The nearest existing file or folder, at a path or above it. */
function inTheWay(path: string): { readonly place: string; readonly kind: 'file' | 'folder' } | undefined {
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) {
      const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
      return { place: path, kind: isFolder ? 'folder' : 'file' };
    }
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'ENOTDIR') return undefined;
  }
  const parent = dirname(path);
  return parent === path ? undefined : inTheWay(parent);
}
