import { posix } from 'node:path';
import { checkFolders, type ProjectFolders } from './check/check-folders.js';
import type { Diagnostic } from './diagnostics.js';
import { type LockText, readLocks } from './event-lock/lock-state.js';
import { attempt } from './read/attempt.js';
import type { ReadResult } from './read/read-project.js';
import { readTemplates, type UserTemplate } from './read/read-templates.js';
import type { SourceFiles } from './read/source-files.js';
import { type ProjectPaths, relativeTo } from './schema/paths.js';

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
  const { projectDirectory, templatesDirectory, sources } = options;
  const { readProject } = await import('./read/read-project.js');
  const result = readProject(projectDirectory, paths, sources);
  const locks = readLocks(projectDirectory, paths);
  if (templatesDirectory === undefined) return { ...result, paths, templates: new Map(), locks };
  const folder = relativeTo(projectDirectory, templatesDirectory);
  const problems: Diagnostic[] = [];
  const templates = attempt(problems, { key: 'templates', path: folder }, () =>
    readTemplates(projectDirectory, folder),
  );
  if (templates === undefined) return { problems };
  const watched = [folder, posix.join(folder, 'partials')];
  const templateFiles = [...templates.values()].map(({ file }) => file);
  return { ...result, inputs: [...result.inputs, ...watched, ...templateFiles], paths, templates, locks };
}
