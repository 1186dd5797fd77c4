import { posix } from 'node:path';
import { checkFolders, type ProjectFolders } from './check/check-folders.js';
import { type Diagnostic, diagnostic } from './diagnostics.js';
import { type LockText, readLocks } from './event-lock/lock-state.js';
import type { ReadResult } from './read/read-project.js';
import { readTemplates, TEMPLATE_FOLDERS, type UserTemplate } from './read/read-templates.js';
import type { SourceFiles } from './read/source-files.js';
import { type ProjectPaths, relativeTo } from './schema/paths.js';
import { isSystemError } from './system-error.js';

/** What a run reads, with absolute paths. */
export interface InputOptions extends ProjectFolders {
  /** Folder of the user's own templates. Default: none. */
  readonly templatesDirectory?: string | undefined;
  /** Sources that an earlier run of this process has read, without changed files. Default: none. @internal */
  readonly sources?: SourceFiles;
}

/** The inputs of a run: sources, the user's templates and locks. */
export interface RunInputs extends ReadResult {
  readonly paths: ProjectPaths;
  readonly templates: ReadonlyMap<string, UserTemplate>;
  readonly locks: readonly LockText[];
}

/** Reads everything that a run depends on. */
export async function readInputs(
  options: InputOptions,
): Promise<RunInputs | { readonly problems: readonly Diagnostic[] }> {
  const { paths, diagnostics } = checkFolders(options);
  if (diagnostics.length > 0) return { problems: diagnostics };
  const { readProject } = await import('./read/read-project.js');
  const result = readProject(options.projectDirectory, paths, options.sources);
  const templates = loadTemplates(options);
  if ('code' in templates) return { problems: [templates] };
  const watched =
    options.templatesDirectory === undefined
      ? []
      : TEMPLATE_FOLDERS.map((folder) => posix.join(templatesFolder(options), folder));
  const templateFiles = [...templates.values()].map(({ file }) => file);
  return {
    ...result,
    inputs: [...result.inputs, ...watched, ...templateFiles],
    paths,
    templates,
    locks: readLocks(options.projectDirectory, paths),
  };
}

function loadTemplates({
  projectDirectory,
  templatesDirectory,
}: InputOptions): ReadonlyMap<string, UserTemplate> | Diagnostic {
  if (templatesDirectory === undefined) return new Map();
  const folder = templatesFolder({ projectDirectory, templatesDirectory });
  try {
    return readTemplates(projectDirectory, folder);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const message = `Cannot read templates: ${error.code}`;
    return diagnostic('FWGEN038', { file: folder }, message, 'Check that the folder is readable.');
  }
}

/** Project-relative path of the user's templates; '' if there are none. */
function templatesFolder({
  projectDirectory,
  templatesDirectory,
}: Pick<InputOptions, 'projectDirectory' | 'templatesDirectory'>): string {
  return templatesDirectory === undefined ? '' : relativeTo(projectDirectory, templatesDirectory);
}
