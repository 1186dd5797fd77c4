import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { checkFolders, type ProjectFolders } from './check/check-folders.js';
import type { Diagnostic } from './diagnostics.js';
import { LOCK_KINDS, type LockText } from './event-lock/lock-kind.js';
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
  const { paths, diagnostics: misplaced } = checkFolders(options);
  if (misplaced.length > 0) return { problems: misplaced };
  const { projectDirectory, templatesDirectory, sources } = options;
  const { readProject } = await import('./read/read-project.js');
  const result = readProject(projectDirectory, paths, sources);
  const diagnostics = [...result.diagnostics];
  const locks = LOCK_KINDS.map((kind): LockText => {
    const path = posix.join(paths.migrations, kind.fileName);
    const file = join(projectDirectory, path);
    const readText = () => (existsSync(file) ? readFileSync(file, 'utf8') : undefined);
    return { kind, path, text: attempt(diagnostics, path, readText) };
  });
  const inputs = [...result.inputs, ...locks.map(({ path }) => path)];
  let templates: RunInputs['templates'] = new Map();
  if (templatesDirectory !== undefined) {
    const path = relativeTo(projectDirectory, templatesDirectory);
    const place = { key: 'templates', path } as const;
    templates = attempt(diagnostics, place, () => readTemplates(projectDirectory, path)) ?? templates;
    inputs.push(path, posix.join(path, 'partials'), ...[...templates.values()].map(({ file }) => file));
  }
  return { ...result, diagnostics, inputs, paths, templates, locks };
}
