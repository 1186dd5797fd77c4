import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { isSystemError, writeAdvice } from '../generator/system-error.js';
import { atomically, targetOf } from '../generator/write/atomic-change.js';
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
  let place = '';
  const write = (): void =>
    atomically((change) => {
      for (const [path, text] of files) {
        place = path;
        change.create(path, text, secrets.includes(path) ? 0o600 : undefined);
      }
      for (const [path, text] of changed) {
        place = path;
        change.replace(path, text, readFileSync(path, 'utf8'));
      }
    });
  expectSystemError('write', write, () => place);
}

/** Writes a file, also over an older one. @throws InputError as `makeFiles` */
export function writeOutput(path: string, text: string): void {
  const write = (): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  expectSystemError('write', write, () => path);
}

/**
 * Runs work that fails if the file system refuses it.
 *
 * @param place the file, for errors of writing that name none
 * @throws InputError as `makeFiles`
 */
export function expectSystemError<T>(verb: 'read' | 'write', work: () => T, place = (): string => ''): T {
  try {
    return work();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const path = error.path === undefined ? place() : targetOf(error.path);
    const advice = writeAdvice(error, path, shown);
    throw new InputError(`Cannot ${verb} ${shown(path)}: ${error.code} (${error.syscall}). ${advice}`);
  }
}

/** The path as users type it: relative to the working directory if below it. */
function shown(path: string): string {
  const below = relative(process.cwd(), path);
  return below === '' || below.startsWith('..') ? path : below;
}
