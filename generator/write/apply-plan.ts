import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { FileChange, WritePlan } from './plan-write.js';

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
 * taken back.
 *
 * @throws the error of the file system; then the files are as before
 */
export function applyPlan(projectDirectory: string, plan: WritePlan): void {
  const staged: Staged[] = [];
  const done: Staged[] = [];
  try {
    for (const change of plan.changes) {
      if (change.kind !== 'unchanged') staged.push(stage(projectDirectory, change));
    }
    for (const each of staged) {
      moveIntoPlace(each);
      done.push(each);
    }
  } catch (error) {
    done.forEach(takeBack);
    throw error;
  } finally {
    for (const { temporary } of staged) if (temporary !== undefined) rmSync(temporary, { force: true });
  }
}

function stage(projectDirectory: string, { path, kind, text }: FileChange): Staged {
  const target = join(projectDirectory, path);
  const before = kind === 'create' ? undefined : readFileSync(target, 'utf8');
  if (text === undefined) return { target, temporary: undefined, before };
  mkdirSync(dirname(target), { recursive: true });
  const temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    writeFileSync(temporary, text, { flag: 'wx' });
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  return { target, temporary, before };
}

function moveIntoPlace({ target, temporary }: Staged): void {
  if (temporary === undefined) rmSync(target);
  else renameSync(temporary, target);
}

function takeBack({ target, before }: Staged): void {
  if (before === undefined) rmSync(target, { force: true });
  else writeFileSync(target, before);
}
