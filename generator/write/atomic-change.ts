import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isSystemError } from '../system-error.js';

/**
 * Changes files completely, or not at all: if `work` throws, its changes are reverted.
 *
 * @throws the error of `work`
 */
export function atomically(work: (change: AtomicChange) => void): void {
  const undo: (() => void)[] = [];
  try {
    work(new AtomicChange(undo));
  } catch (error) {
    undo.reverse().forEach(attempt);
    throw error;
  }
}

/** Changes of files, with what reverts them. Paths are absolute. */
export class AtomicChange {
  readonly #undo: (() => void)[];

  constructor(undo: (() => void)[]) {
    this.#undo = undo;
  }

  /** Creates a file that must not exist. @throws the system's error */
  create(path: string, text: string, mode?: number): void {
    this.#makeFolder(dirname(path));
    try {
      writeFileSync(path, text, { flag: 'wx', mode });
    } catch (error) {
      // On a full disk the file exists without its text. A file that existed before is not removed.
      if (isSystemError(error) && error.syscall !== 'open') rmSync(path, { force: true });
      throw error;
    }
    this.#undo.push(() => rmSync(path));
  }

  /**
   * Writes the new text next to its file. The returned function replaces the file by it, so that no reader sees an
   * incomplete file.
   *
   * @param text undefined: the function removes the file
   * @param before the present text, undefined if there is no file
   */
  stage(path: string, text: string | undefined, before: string | undefined): () => void {
    const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.fw-tmp`);
    if (text !== undefined) {
      this.#makeFolder(dirname(path));
      this.#undo.push(() => rmSync(temporary, { force: true }));
      const mode = before === undefined ? undefined : statSync(path).mode;
      writeFileSync(temporary, text, { mode });
    }
    return () => {
      if (text === undefined) rmSync(path);
      else renameSync(temporary, path);
      this.#undo.push(() => (before === undefined ? rmSync(path) : writeFileSync(path, before)));
    };
  }

  /** As `stage`, at once. */
  replace(path: string, text: string, before: string | undefined): void {
    this.stage(path, text, before)();
  }

  #makeFolder(folder: string): void {
    if (existsSync(folder)) return;
    this.#makeFolder(dirname(folder));
    // mkdirSync returns undefined if another process has created the folder meanwhile.
    if (mkdirSync(folder, { recursive: true }) !== undefined) this.#undo.push(() => rmdirSync(folder));
  }
}

const TEMPORARY = /^\.(.+)\.[0-9a-f]{12}\.fw-tmp$/;

/** Deletes the temporary files of killed processes in a folder. */
export function removeLeftovers(folder: string): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder))
    if (TEMPORARY.test(name)) rmSync(join(folder, name), { force: true });
}

/** The target file, even if an error names the temporary file next to it. */
export function targetOf(path: string): string {
  const [, name = basename(path)] = TEMPORARY.exec(basename(path)) ?? [];
  return join(dirname(path), name);
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // The folder may hold files of other processes; the first failure is the one to report.
  }
}
