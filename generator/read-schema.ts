import { checkFolders, type ProjectFolders } from './check/check-folders.js';
import { checkSchema } from './check/check-schema.js';
import { type Diagnostic, sortDiagnostics } from './diagnostics.js';
import { readProject } from './read/read-project.js';
import type { ProjectSchema } from './schema/project-schema.js';

/** Reads the sources of a project and checks them. @returns no schema if there are mistakes */
export function readSchema(folders: ProjectFolders): {
  readonly schema?: ProjectSchema;
  readonly diagnostics: readonly Diagnostic[];
} {
  const { paths, diagnostics: misplaced } = checkFolders(folders);
  if (misplaced.length > 0) return { diagnostics: misplaced };
  const { schema, diagnostics } = readProject(folders.projectDirectory, paths);
  const problems = [...diagnostics, ...checkSchema(schema)];
  return problems.length > 0 ? { diagnostics: sortDiagnostics(problems) } : { schema, diagnostics: [] };
}
