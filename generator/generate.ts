import { checkFolders, type ProjectFolders } from './check/check-folders.js';
import { checkSchema } from './check/check-schema.js';
import { type Diagnostic, diagnostic, sortDiagnostics } from './diagnostics.js';
import { emitProject } from './emit/emit-project.js';
import { readProject } from './read/read-project.js';
import type { ProjectPaths } from './schema/paths.js';
import type { ProjectSchema } from './schema/project-schema.js';
import type { FileChange } from './write/plan-write.js';
import { writeProject } from './write/write-project.js';

/** What to generate, with absolute paths. */
export interface GenerateOptions extends ProjectFolders {
  /** Title of the API document. Default: `API`. */
  readonly title?: string;
  /** Version of the API document. Default: `1.0.0`. */
  readonly version?: string;
}

/** What a run did. */
export interface GenerateResult {
  /** Mistakes in the input, sorted by place. While there is one, nothing is written. */
  readonly diagnostics: readonly Diagnostic[];
  /** Every file that belongs to the output, with what was done to it, sorted by path. */
  readonly changes: readonly FileChange[];
}

/**
 * Reads the sources, checks them and writes what they give. Sources are parsed, never executed. Mistakes are
 * collected in the result; a throw is a bug of the generator.
 */
export async function generate(options: GenerateOptions): Promise<GenerateResult> {
  const { paths, diagnostics: folderProblems } = checkFolders(options);
  if (folderProblems.length > 0) return failed(folderProblems);
  const { schema, diagnostics: readProblems } = readProject(options.projectDirectory, paths);
  const problems = [...readProblems, ...checkSchema(schema)];
  if (problems.length > 0) return failed(problems);
  if (isEmpty(schema)) return failed([nothingToGenerate(paths)]);
  const emitted = emitProject({
    schema,
    paths,
    title: options.title ?? 'API',
    version: options.version ?? '1.0.0',
  });
  const { changes, diagnostics } = await writeProject(options.projectDirectory, paths, emitted);
  return { changes, diagnostics };
}

function failed(diagnostics: readonly Diagnostic[]): GenerateResult {
  return { changes: [], diagnostics: sortDiagnostics(diagnostics) };
}

function isEmpty({ models, actions }: ProjectSchema): boolean {
  return models.length === 0 && actions.length === 0;
}

function nothingToGenerate(paths: ProjectPaths): Diagnostic {
  return diagnostic(
    'FWGEN040',
    { file: paths.source || '.' },
    'No class is marked with @AutoBuilder or @FwAction',
    'Mark one, or set fw.generator.source to the folder that your sources lie in.',
  );
}
