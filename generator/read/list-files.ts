import { type Dirent, existsSync, readdirSync } from 'node:fs';
import { join, sep } from 'node:path';
import { compareText } from '../diagnostics.js';
import { MANIFEST_NAME } from '../schema/emitted-files.js';
import { migrationFilesOf } from './read-migrations.js';

/** Folders that never contain sources. */
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['node_modules', 'dist']);

/** Files and folders below a folder. */
export interface SourceList {
  readonly files: readonly string[];
  /** All folders that were listed. */
  readonly folders: readonly string[];
  /** Those with emitted files of a former output, which are no sources. */
  readonly emitted: readonly string[];
}

/**
 * Lists the TypeScript sources below a folder, sorted. Skips tests, hidden folders and symbolic links, which may form
 * loops.
 *
 * @throws if a folder cannot be read
 */
export function listSources(
  projectDirectory: string,
  folder: string,
  excluded: readonly string[],
): SourceList {
  const files: string[] = [];
  const folders: string[] = [];
  const emitted: string[] = [];
  const pending = [folder];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    folders.push(next);
    const entries = readdirSync(join(projectDirectory, next), { withFileTypes: true });
    if (entries.some(({ name }) => name === MANIFEST_NAME)) {
      emitted.push(next);
      continue;
    }
    for (const entry of entries) {
      const path = below(next, entry.name);
      if (isSourceFolder(entry) && !excluded.includes(path)) pending.push(path);
      else if (entry.isFile() && isSource(entry.name)) files.push(path);
    }
  }
  return { files: files.sort(compareText), folders, emitted };
}

/** Lists the migrations in a folder and below, in order; empty if the folder does not exist. @throws if it cannot be read */
export function listMigrations(projectDirectory: string, folder: string): readonly string[] {
  const absolute = join(projectDirectory, folder);
  if (!existsSync(absolute)) return [];
  const names = readdirSync(absolute, { recursive: true, encoding: 'utf8' });
  return migrationFilesOf(names.map((name) => name.replaceAll(sep, '/'))).map((name) => below(folder, name));
}

/** `join` would take longer than listing the folder. */
function below(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

function isSourceFolder(entry: Dirent): boolean {
  return entry.isDirectory() && !entry.name.startsWith('.') && !SKIPPED_FOLDERS.has(entry.name);
}

function isSource(name: string): boolean {
  return /\.[cm]?tsx?$/.test(name) && !/\.(test|spec|test-d)\.[cm]?tsx?$/.test(name);
}
