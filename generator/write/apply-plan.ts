import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { hashOf, MANIFEST_NAME, printManifest } from './manifest.js';
import { type FileChange, loadManifest, type WritePlan } from './plan-write.js';

interface Staged {
  readonly target: string;
  /** File with the new text beside the target; absent for a removal. */
  readonly temporary: string | undefined;
  /** Text before the run; absent for a new file. */
  readonly before: string | undefined;
}

/**
 * Carries out a plan: all new texts are written beside their targets first, and only then renamed into place, so that
 * a full disk leaves everything as it was and no reader sees half a file. If a rename fails, the earlier ones are
 * taken back. Before the first rename the manifest names both states of every file, so that a run that is killed
 * leaves nothing that the next one would not know as its own.
 *
 * @throws the error of the file system; then the files are as before
 */
export function applyPlan(projectDirectory: string, outputFolder: string, plan: WritePlan): void {
  const changes = plan.changes.filter(({ kind }) => kind !== 'unchanged');
  const manifestFile = join(projectDirectory, outputFolder, MANIFEST_NAME);
  const before = existsSync(manifestFile) ? readFileSync(manifestFile, 'utf8') : undefined;
  const after = printManifest(plan.manifest);
  if (changes.length === 0 && before === after) return;
  const staged: Staged[] = [];
  const done: Staged[] = [];
  try {
    for (const folder of foldersOf(projectDirectory, changes)) mkdirSync(folder, { recursive: true });
    for (const change of changes) staged.push(stage(projectDirectory, change));
    replace(manifestFile, printManifest(underWay(projectDirectory, outputFolder, plan)));
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

/** Removes what runs that were killed left behind in a folder. */
export function removeLeftovers(folder: string): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder))
    if (TEMPORARY.test(name)) rmSync(join(folder, name), { force: true });
}

const TEMPORARY = /^\..+\.[0-9a-f]{12}\.fw-tmp$/;

/** Every file with the hashes that it has before and after this run. */
function underWay(
  projectDirectory: string,
  outputFolder: string,
  { manifest, changes }: WritePlan,
): ReadonlyMap<string, ReadonlySet<string>> {
  const known = loadManifest(projectDirectory, outputFolder)?.files ?? new Map<string, ReadonlySet<string>>();
  const both = new Map<string, ReadonlySet<string>>(known);
  for (const [name, hashes] of manifest) both.set(name, new Set([...(known.get(name) ?? []), ...hashes]));
  for (const { path, before } of changes) {
    const name = path.slice(outputFolder.length + 1);
    if (before === undefined || !both.has(name)) continue;
    both.set(name, new Set([...(both.get(name) ?? []), hashOf(before)]));
  }
  return both;
}

function foldersOf(projectDirectory: string, changes: readonly FileChange[]): ReadonlySet<string> {
  return new Set(changes.map(({ path }) => dirname(join(projectDirectory, path))));
}

function stage(projectDirectory: string, { path, before, text }: FileChange): Staged {
  const target = join(projectDirectory, path);
  return { target, temporary: text === undefined ? undefined : writeBeside(target, text), before };
}

function writeBeside(target: string, text: string): string {
  const temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}.fw-tmp`);
  try {
    writeFileSync(temporary, text, { flag: 'wx' });
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  return temporary;
}

function replace(target: string, text: string): void {
  const temporary = writeBeside(target, text);
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
