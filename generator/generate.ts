import { checkFolders, type ProjectFolders } from './check/check-folders.js';
import { checkSchema } from './check/check-schema.js';
import { type Diagnostic, diagnostic, sortDiagnostics } from './diagnostics.js';
import { type EmitInput, emitProject, traceProject } from './emit/emit-project.js';
import type { TracedText } from './emit/print/marks.js';
import { readProject } from './read/read-project.js';
import type { ProjectPaths } from './schema/paths.js';
import type { ProjectSchema } from './schema/project-schema.js';
import type { FileChange } from './write/plan-write.js';
import { type WriteOptions, writeProject } from './write/write-project.js';

/** What to generate, with absolute paths. */
export interface GenerateOptions extends ProjectFolders, WriteOptions {
  /** Title of the API document. Default: `API`. */
  readonly title?: string;
  /** Version of the API document. Default: `1.0.0`. */
  readonly version?: string;
  /** Told when a phase begins. */
  readonly onPhase?: (phase: Phase) => void;
}

/** One step of a run. */
export type Phase = 'read' | 'check' | 'emit' | 'write';

/** What a run did. */
export interface GenerateResult {
  /** Mistakes in the input, sorted by place. While there is one, nothing is written. */
  readonly diagnostics: readonly Diagnostic[];
  /** Every file that belongs to the output, with what was done to it, sorted by path. */
  readonly changes: readonly FileChange[];
  /** Which declaration causes which line of the generated files, by path. Computed when called. */
  readonly trace: () => ReadonlyMap<string, TracedText>;
}

/**
 * Reads the sources, checks them and writes what they give. Sources are parsed, never executed. Mistakes are
 * collected in the result; a throw is a bug of the generator.
 */
export async function generate(options: GenerateOptions): Promise<GenerateResult> {
  const prepared = prepare(options);
  if ('diagnostics' in prepared) return failed(prepared.diagnostics);
  const { input, paths } = prepared;
  options.onPhase?.('emit');
  const emitted = emitProject(input);
  options.onPhase?.('write');
  const { changes, diagnostics } = await writeProject(options.projectDirectory, paths, emitted, options);
  return { changes, diagnostics, trace: () => traceProject(input) };
}

interface Prepared {
  readonly input: EmitInput;
  readonly paths: ProjectPaths;
}

function prepare(options: GenerateOptions): Prepared | { readonly diagnostics: readonly Diagnostic[] } {
  options.onPhase?.('read');
  const { paths, diagnostics: folderProblems } = checkFolders(options);
  if (folderProblems.length > 0) return { diagnostics: folderProblems };
  const { schema, diagnostics: readProblems } = readProject(options.projectDirectory, paths);
  options.onPhase?.('check');
  const problems = [...readProblems, ...checkSchema(schema)];
  if (problems.length > 0) return { diagnostics: problems };
  if (isEmpty(schema)) return { diagnostics: [nothingToGenerate(paths)] };
  const { title = 'API', version = '1.0.0' } = options;
  return { input: { schema, paths, title, version }, paths };
}

function failed(diagnostics: readonly Diagnostic[]): GenerateResult {
  return { changes: [], diagnostics: sortDiagnostics(diagnostics), trace: () => new Map() };
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
