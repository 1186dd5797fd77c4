import { join } from 'node:path';
import { diagnostic } from '../diagnostics.js';
import type { EmittedFiles } from '../schema/emitted-files.js';
import type { ProjectPaths } from '../schema/paths.js';
import { isSystemError } from '../system-error.js';
import { applyPlan } from './apply-plan.js';
import { FolderLockedError, withFolderLock } from './folder-lock.js';
import { planWrite, type WritePlan } from './plan-write.js';

/** Writes what changed, or nothing at all if anything stands in the way. Disk errors become diagnostics. */
export async function writeProject(
  projectDirectory: string,
  paths: ProjectPaths,
  emitted: EmittedFiles,
): Promise<WritePlan> {
  try {
    return await withFolderLock(join(projectDirectory, paths.output), () => {
      const plan = planWrite(projectDirectory, paths.output, emitted);
      if (plan.diagnostics.length > 0) return { changes: [], diagnostics: plan.diagnostics };
      applyPlan(projectDirectory, plan);
      return plan;
    });
  } catch (error) {
    return { changes: [], diagnostics: [diskDiagnostic(error, paths.output)] };
  }
}

function diskDiagnostic(error: unknown, folder: string): WritePlan['diagnostics'][number] {
  if (error instanceof FolderLockedError) {
    const hint = `Wait for it, or remove ${folder}/.fw-gen.lock if there is no such process.`;
    return diagnostic('FWGEN038', { file: folder }, error.message, hint);
  }
  if (!isSystemError(error)) throw error;
  const message = `Cannot write: ${error.code} (${error.syscall}). The files are as they were before`;
  return diagnostic('FWGEN038', { file: folder }, message, 'Check free space and permissions.');
}
