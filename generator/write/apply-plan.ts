import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { plainText } from '../content-hash.js';
import { hashOf, MANIFEST_NAME, printManifest } from './manifest.js';
import { type FileChange, manifestName, type WritePlan } from './plan-write.js';

interface Staged {
  readonly target: string;
  /** File with the new text next to the target; absent for a removal. */
  readonly temporary: string | undefined;
  /** Text before the run; absent for a new file. */
  readonly before: string | undefined;
}

/**
 * Applies a plan. All new texts are first written next to their targets and then renamed, so that a full disk changes
 * nothing and no reader sees an incomplete file. If a rename fails, the earlier ones are reverted. Before the first
 * rename, the manifest lists both states of every file, so that the next run recognises the files of a killed run as
 * its own.
 *
 * @throws the error of the file system; then the files are as before
 */
export function applyPlan(projectDirectory: string, outputFolder: string, plan: WritePlan): void {
  const changes = plan.changes.filter(({ kind }) => kind !== 'unchanged');
  const manifestFile = join(projectDirectory, outputFolder, MANIFEST_NAME);
  const before = existsSync(manifestFile) ? readFileSync(manifestFile, 'utf8') : undefined;
  const after = printManifest(plan.manifest);
  if (changes.length === 0 && before !== undefined && plainText(before) === after) return;
  const staged: Staged[] = [];
  const done: Staged[] = [];
  try {
    for (const folder of foldersOf(projectDirectory, changes)) mkdirSync(folder, { recursive: true });
    const run = randomBytes(6).toString('hex');
    for (const change of changes) staged.push(stage(projectDirectory, change, run));
    replace(manifestFile, printManifest(underWay(outputFolder, plan)));
    for (const each of staged) {
      moveIntoPlace(each);
      done.push(each);
    }
    replace(manifestFile, after);
  } catch (error) {
    for (const { temporary } of staged) if (temporary !== undefined) rmSync(temporary, { force: true });
    done.forEach(takeBack);
    if (before !== undefined) replace(manifestFile, before);
    else rmSync(manifestFile, { force: true });
    throw error;
  }
}

/** Deletes the leftover files of killed runs in a folder. */
export function removeLeftovers(folder: string): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder))
    if (TEMPORARY.test(name)) rmSync(join(folder, name), { force: true });
}

const TEMPORARY = /^\.(.+)\.[0-9a-f]{12}\.fw-tmp$/;

/** The target file, even if an error names the temporary file next to it. */
export function targetOf(path: string): string {
  const [, name = basename(path)] = TEMPORARY.exec(basename(path)) ?? [];
  return join(dirname(path), name);
}

/** Every file with its hashes before and after this run. */
function underWay(
  outputFolder: string,
  { before: known, manifest, changes }: WritePlan,
): ReadonlyMap<string, ReadonlySet<string>> {
  const both = new Map<string, ReadonlySet<string>>(known?.files);
  for (const [name, hashes] of manifest)
    both.set(name, new Set([...(known?.files.get(name) ?? []), ...hashes]));
  for (const { path, before, text } of changes) {
    const name = manifestName(outputFolder, path);
    // A file that is rewritten with the same text has only one state.
    if (before === undefined || before === text || !both.has(name)) continue;
    both.set(name, new Set([...(both.get(name) ?? []), hashOf(before)]));
  }
  return both;
}

function foldersOf(projectDirectory: string, changes: readonly FileChange[]): ReadonlySet<string> {
  return new Set(changes.map(({ path }) => dirname(join(projectDirectory, path))));
}

function stage(projectDirectory: string, { path, before, text }: FileChange, run: string): Staged {
  const target = join(projectDirectory, path);
  return { target, temporary: text === undefined ? undefined : writeBeside(target, text, run), before };
}

/** @param run identifies the files of this run, in 12 hexadecimal digits */
function writeBeside(target: string, text: string, run: string): string {
  const temporary = join(dirname(target), `.${basename(target)}.${run}.fw-tmp`);
  try {
    writeNew(temporary, text);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  return temporary;
}

/** Writes a new file, without a copy of its text in bytes. */
function writeNew(file: string, text: string): void {
  const descriptor = openSync(file, 'wx');
  try {
    const written = writeSync(descriptor, text);
    if (written === Buffer.byteLength(text)) return;
    const bytes = Buffer.from(text);
    for (let at = written; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
  } finally {
    closeSync(descriptor);
  }
}

function replace(target: string, text: string): void {
  const temporary = writeBeside(target, text, randomBytes(6).toString('hex'));
  try {
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function moveIntoPlace({ target, temporary }: Staged): void {
  if (temporary === undefined) rmSync(target);
  else renameSync(temporary, target);
}

function takeBack({ target, before }: Staged): void {
  if (before === undefined) rmSync(target, { force: true });
  else writeFileSync(target, before);
}
