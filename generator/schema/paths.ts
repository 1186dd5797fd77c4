import { relative, sep } from 'node:path';

/** Where a generation reads and writes, relative to the project folder, with forward slashes. */
export interface ProjectPaths {
  /** Folder that all inputs lie in; '' is the project folder itself. */
  readonly source: string;
  /** Folder of emitted code. */
  readonly output: string;
  /** Folder of the application's migrations. */
  readonly migrations: string;
  /** Folder of the emitted client. Absent: none is emitted. */
  readonly client?: string;
}

/** A path below a folder with forward slashes, whatever the system writes. */
export function relativeTo(from: string, to: string): string {
  return relative(from, to).split(sep).join('/');
}

/** The way from a folder to a file, both from the project folder ('.' is the project folder) and without detours. */
export function relativePath(folder: string, file: string): string {
  const from = folder === '' || folder === '.' ? [] : folder.split('/');
  const to = file.split('/');
  let shared = 0;
  while (shared < from.length && shared < to.length - 1 && from[shared] === to[shared]) shared += 1;
  return '../'.repeat(from.length - shared) + to.slice(shared).join('/');
}
