import { relative, sep } from 'node:path';

/** Folders of a generation, relative to the project folder, with forward slashes. */
export interface ProjectPaths {
  /** Folder of all sources; '' is the project folder. */
  readonly source: string;
  /** Folder of emitted code. */
  readonly output: string;
  /** Folder of the application's migrations. */
  readonly migrations: string;
  /** Folder of the emitted client. Default: no client is emitted. */
  readonly client?: string;
}

/** Returns the path from a folder to another one, with forward slashes on every system. */
export function relativeTo(from: string, to: string): string {
  return relative(from, to).split(sep).join('/');
}

/** Returns the path from a folder to a file. Both are relative to the project folder ('.' or '') and normalized. */
export function relativePath(folder: string, file: string): string {
  const from = folder === '' || folder === '.' ? [] : folder.split('/');
  const to = file.split('/');
  let shared = 0;
  while (shared < from.length && shared < to.length - 1 && from[shared] === to[shared]) shared += 1;
  return '../'.repeat(from.length - shared) + to.slice(shared).join('/');
}
