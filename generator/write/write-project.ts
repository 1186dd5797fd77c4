import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Diagnostic, diagnostic } from '../diagnostics.js';
import { type EmittedFiles, MANIFEST_NAME } from '../schema/emitted-files.js';
import { type ProjectPaths, relativeTo } from '../schema/paths.js';
import { isSystemError, writeAdvice } from '../system-error.js';
import { applyPlan } from './apply-plan.js';
import { removeLeftovers, targetOf } from './atomic-change.js';
import { FolderLockedError, withFolderLock } from './folder-lock.js';
import { type FileChange, planWrite, type WritePlan } from './plan-write.js';

/** How a run changes files. */
export interface WriteOptions {
  /** Whether to compare only. Default false. */
  readonly dryRun?: boolean;
  /** Whether to replace files that were edited by hand or that we did not write. Default false. */
  readonly force?: boolean;
  /** Whether the files still are as they were read. Called when no other run can write. Default: they are. @internal */
  readonly isCurrent?: () => boolean;
}

/** The changes that were made, or would be made. */
export interface WriteResult {
  readonly changes: readonly FileChange[];
  readonly diagnostics: readonly Diagnostic[];
  /** True if nothing was written because another run has written since the files were read. */
  readonly isStale?: boolean;
}

/** Writes the changed files, or nothing if there is a conflict. Disk errors become diagnostics. */
export async function writeProject(
  projectDirectory: string,
  paths: ProjectPaths,
  emitted: EmittedFiles,
  options: WriteOptions = {},
): Promise<WriteResult> {
  const request = { projectDirectory, outputFolder: paths.output, emitted, ...options };
  try {
    if (options.dryRun === true) return resultOf(withManifest(planWrite(request), paths.output));
    return await withFolderLock(join(projectDirectory, paths.output), () => {
      if (options.isCurrent?.() === false) return { changes: [], diagnostics: [], isStale: true };
      const plan = planWrite(request);
      if (plan.diagnostics.length > 0) return resultOf(plan);
      const { output, migrations, client = output } = paths;
      for (const folder of [output, migrations, client]) removeLeftovers(join(projectDirectory, folder));
      applyPlan(projectDirectory, paths.output, plan);
      return { changes: plan.changes, diagnostics: [] };
    });
  } catch (error) {
    return { changes: [], diagnostics: [diskDiagnostic(error, projectDirectory, paths.output)] };
  }
}

/**
 * Adds the manifest if only it is missing, or lacks the present state of a file: the next run could not recognize edits,
 * or would take its own change for one. A merge may have left further lines.
 */
function withManifest(plan: WritePlan, folder: string): WritePlan {
  const { before, manifest: wanted, changes } = plan;
  const isAlone = changes.every(({ kind }) => kind === 'unchanged');
  const isKept = changes.some(({ path, kind }) => kind === 'unchanged' && path.startsWith(`${folder}/`));
  const lacks = ([name, hashes]: readonly [string, ReadonlySet<string>]): boolean =>
    ![...hashes].every((each) => before?.files.get(name)?.has(each));
  if (before === undefined ? !isKept : !isAlone || ![...wanted].some(lacks)) return plan;
  const kind = before === undefined ? 'create' : 'update';
  const manifest = { path: `${folder}/${MANIFEST_NAME}`, kind, text: '' } as const;
  return { ...plan, changes: [...changes, manifest] };
}

/** The changes that a plan would make; none if there is a conflict. */
function resultOf({ changes, diagnostics }: WritePlan): WriteResult {
  return { changes: diagnostics.length > 0 ? [] : changes, diagnostics };
}

function diskDiagnostic(error: unknown, projectDirectory: string, folder: string): Diagnostic {
  if (error instanceof FolderLockedError) {
    const hint = `Wait until it ends, or delete ${folder}/.fw-gen.lock if no such process is running.`;
    return diagnostic('FWGEN038', { file: folder }, error.message, hint);
  }
  if (!isSystemError(error)) throw error;
  const state = existsSync(join(projectDirectory, folder)) ? '. The files are unchanged' : '';
  const message = `Cannot write: ${error.code} (${error.syscall})${state}`;
  const path = error.path === undefined ? join(projectDirectory, folder) : targetOf(error.path);
  const shown = (place: string): string => relativeTo(projectDirectory, place);
  return diagnostic('FWGEN038', { file: shown(path) || '.' }, message, writeAdvice(error, path, shown));
}
