import { posix } from 'node:path';
import { checkFolders, type ProjectFolders } from './check/check-folders.js';
import { type Diagnostic, diagnostic } from './diagnostics.js';
import { type LockText, readLocks } from './event-lock/lock-state.js';
import { type ReadResult, readProject } from './read/read-project.js';
import { readTemplates, TEMPLATE_FOLDERS, type UserTemplate } from './read/read-templates.js';
import { type ProjectPaths, relativeTo } from './schema/paths.js';
import { isSystemError } from './system-error.js';
import type { RunMemory } from './watch.js';

/** What a run reads, with absolute paths. */
export interface InputOptions extends ProjectFolders {
  /** Folder of the user's own templates. Default: none. */
  readonly templatesDirectory?: string | undefined;
  /** Results of earlier runs of this process. Default: none. @internal */
  readonly memory?: RunMemory;
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
  const result = await readProject(options.projectDirectory, paths, options.memory?.read);
  const templates = loadTemplates(options);
  if ('code' in templates) return { problems: [templates] };
  const watched =
    options.templatesDirectory === undefined
      ? []
      : TEMPLATE_FOLDERS.map((folder) => posix.join(templatesFolder(options), folder));
  const templateFiles = [...templates.values()].map(({ file }) => file);
  return {
    // Built on first use.
    get schema() {
      return result.schema;
    },
    get newPart() {
      return result.newPart;
    },
    get outline() {
      return result.outline;
    },
    diagnostics: result.diagnostics,
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
