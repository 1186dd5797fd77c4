import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, relative } from 'node:path';
import { isSystemError, writeAdvice } from '../generator/system-error.js';
import { InputError } from './input-error.js';

/** Options of `makeFiles`; paths are absolute. */
export interface MakeFilesOptions {
  /** Files that only their owner may read. */
  readonly secrets?: readonly string[];
  /** New texts of existing files. */
  readonly changed?: ReadonlyMap<string, string>;
}

/**
 * Creates new files with their folders, and changes existing files: completely, or not at all.
 *
 * @param files texts by absolute path
 * @throws InputError naming the path, the system's error and the fix
 */
export function makeFiles(
  files: ReadonlyMap<string, string>,
  { secrets = [], changed = new Map() }: MakeFilesOptions = {},
): void {
  const undo: (() => void)[] = [];
  let place = '';
  try {
    for (const [path, text] of files) {
      place = path;
      makeFolder(dirname(path), undo);
      makeFile(path, { text, mode: secrets.includes(path) ? 0o600 : 0o666 }, undo);
    }
    for (const [path, text] of changed) {
      place = path;
      changeFile(path, text, undo);
    }
  } catch (error) {
    undo.reverse().forEach(attempt);
    throw expectedFailure(error, 'write', place);
  }
}

/** Runs work that fails if the file system refuses it. @throws InputError as `makeFiles` */
export function expectSystemError<T>(verb: 'read' | 'write', path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw expectedFailure(error, verb, path);
  }
}

function makeFolder(folder: string, undo: (() => void)[]): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder), undo);
  // mkdirSync returns undefined if another process has created the folder meanwhile.
  if (mkdirSync(folder, { recursive: true }) !== undefined) undo.push(() => rmdirSync(folder));
}

function makeFile(
  path: string,
  { text, mode }: { readonly text: string; readonly mode: number },
  undo: (() => void)[],
): void {
  try {
    writeFileSync(path, text, { flag: 'wx', mode });
  } catch (error) {
    // On a full disk the file exists without its text. A file that existed before is not removed.
    if (isSystemError(error) && error.syscall !== 'open') rmSync(path, { force: true });
    throw error;
  }
  undo.push(() => rmSync(path));
}

function changeFile(path: string, text: string, undo: (() => void)[]): void {
  const before = readFileSync(path);
  const { mode } = statSync(path);
  // A process that ends in between must not leave half of a file behind.
  const next = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(next, text, { flag: 'wx', mode });
    renameSync(next, path);
  } catch (error) {
    rmSync(next, { force: true });
    throw error;
  }
  undo.push(() => writeFileSync(path, before));
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // The folder may hold files of other processes; the first failure is the one to report.
  }
}

function expectedFailure(error: unknown, verb: 'read' | 'write', path: string): unknown {
  if (!isSystemError(error)) return error;
  const place = error.path ?? path;
  const advice = writeAdvice(error, place, shown);
  return new InputError(`Cannot ${verb} ${shown(place)}: ${error.code} (${error.syscall}). ${advice}`);
}

/** The path as users type it: relative to the working directory if below it. */
function shown(path: string): string {
  const below = relative(process.cwd(), path);
  return below === '' || below.startsWith('..') ? path : below;
}
