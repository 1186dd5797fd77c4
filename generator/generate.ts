import { posix } from 'node:path';
import { checkFolders, type ProjectFolders, relativeTo } from './check/check-folders.js';
import { checkSchema } from './check/check-schema.js';
import { type Diagnostic, type DiagnosticCode, diagnostic, sortDiagnostics } from './diagnostics.js';
import { checkTemplateNames } from './emit/emit-extras.js';
import { type EmitInput, emitProject, traceProject } from './emit/emit-project.js';
import type { TracedText } from './emit/print/marks.js';
import { TemplateError, type TemplateProblem } from './emit/template-error.js';
import { PARTIALS, TEMPLATES } from './emit/template-names.js';
import { readProject } from './read/read-project.js';
import { readShardVerdicts } from './read/read-shard-verdicts.js';
import { readTemplates, TEMPLATE_FOLDERS, type UserTemplate } from './read/read-templates.js';
import type { ShardVerdict } from './read/shards/verdict.js';
import type { EmittedFiles } from './schema/emitted-files.js';
import type { ProjectPaths } from './schema/paths.js';
import type { ProjectSchema } from './schema/project-schema.js';
import { isSystemError } from './system-error.js';
import type { RunMemory } from './watch.js';
import type { FileChange } from './write/plan-write.js';
import { type WriteOptions, writeProject } from './write/write-project.js';

/** What to generate, with absolute paths. */
export interface GenerateOptions extends ProjectFolders, WriteOptions {
  /** Title of the API document. Default: `API`. */
  readonly title?: string;
  /** Version of the API document. Default: `1.0.0`. */
  readonly version?: string;
  /** Folder of the user's own templates. Default: none. */
  readonly templatesDirectory?: string | undefined;
  /** What earlier runs of this process left behind. Default: nothing. */
  readonly memory?: RunMemory;
  /** Told when a phase begins. */
  readonly onPhase?: (phase: Phase) => void;
}

/** One step of a run. */
export type Phase = 'read' | 'check' | 'emit' | 'write';

export type { TracedText } from './emit/print/marks.js';
export { MANIFEST_NAME } from './write/manifest.js';

/** What a run did. */
export interface GenerateResult {
  /** Mistakes in the input, sorted by place. While there is one, nothing is written. */
  readonly diagnostics: readonly Diagnostic[];
  /** Project-relative files and folders that the result hangs on, whether they exist or not; empty after a mistake. */
  readonly inputs: readonly string[];
  /** Every file that belongs to the output, with what was done to it, sorted by path. */
  readonly changes: readonly FileChange[];
  /** Which declaration causes which line of the generated files, by path. Computed when called. */
  readonly trace: () => ReadonlyMap<string, TracedText>;
  /** What is known about the shards that each action touches. Computed when called. */
  readonly shardVerdicts: () => readonly ShardVerdict[];
}

/**
 * Reads the sources, checks them and writes what they give. Sources are parsed, never executed. Mistakes are
 * collected in the result; a throw is a bug of the generator.
 */
export async function generate(options: GenerateOptions): Promise<GenerateResult> {
  const prepared = prepare(options);
  if ('diagnostics' in prepared) return failed(prepared.diagnostics);
  const { input, inputs, paths } = prepared;
  options.onPhase?.('emit');
  const emitted = emit(input);
  if ('code' in emitted) return failed([emitted]);
  options.onPhase?.('write');
  const { changes, diagnostics } = await writeProject(options.projectDirectory, paths, emitted, options);
  return {
    changes,
    diagnostics,
    inputs: diagnostics.length > 0 ? [] : inputs,
    trace: () => traceProject(input),
    shardVerdicts: () => readShardVerdicts(options.projectDirectory, paths, input.schema),
  };
}

interface Prepared {
  readonly input: EmitInput;
  readonly inputs: readonly string[];
  readonly paths: ProjectPaths;
}

function prepare(options: GenerateOptions): Prepared | { readonly diagnostics: readonly Diagnostic[] } {
  options.onPhase?.('read');
  const { paths, diagnostics: folderProblems } = checkFolders(options);
  if (folderProblems.length > 0) return { diagnostics: folderProblems };
  const {
    schema,
    diagnostics: readProblems,
    inputs,
  } = readProject(options.projectDirectory, paths, options.memory?.read);
  options.onPhase?.('check');
  const problems = [...readProblems, ...checkSchema(schema)];
  if (problems.length > 0) return { diagnostics: problems };
  if (isEmpty(schema)) return { diagnostics: [nothingToGenerate(paths)] };
  const { title = 'API', version = '1.0.0' } = options;
  const templates = loadTemplates(options);
  if ('code' in templates) return { diagnostics: [templates] };
  const misplaced = checkTemplateNames(templates, [...Object.keys(TEMPLATES), ...PARTIALS]);
  if (misplaced.length > 0) return { diagnostics: misplaced };
  const watched =
    options.templatesDirectory === undefined
      ? []
      : TEMPLATE_FOLDERS.map((folder) => posix.join(templatesFolder(options), folder));
  const templateFiles = [...templates.values()].map(({ file }) => file);
  return {
    input: { schema, paths, title, version, templates, memory: options.memory?.emit },
    inputs: [...inputs, ...watched, ...templateFiles],
    paths,
  };
}

function loadTemplates({
  projectDirectory,
  templatesDirectory,
}: GenerateOptions): ReadonlyMap<string, UserTemplate> | Diagnostic {
  if (templatesDirectory === undefined) return new Map();
  const folder = templatesFolder({ projectDirectory, templatesDirectory });
  try {
    return readTemplates(projectDirectory, folder);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const message = `Cannot read templates: ${error.code}`;
    return diagnostic('FWGEN038', { file: folder }, message, 'Check that the folder may be read.');
  }
}

/** Project-relative path of the user's own templates; '' without any. */
function templatesFolder({
  projectDirectory,
  templatesDirectory,
}: Pick<GenerateOptions, 'projectDirectory' | 'templatesDirectory'>): string {
  return templatesDirectory === undefined ? '' : relativeTo(projectDirectory, templatesDirectory);
}

const TEMPLATE_CODES: Readonly<Record<TemplateProblem, DiagnosticCode>> = {
  syntax: 'FWGEN042',
  missing: 'FWGEN043',
  conflict: 'FWGEN044',
};

function emit(input: EmitInput): EmittedFiles | Diagnostic {
  try {
    return emitProject(input);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return diagnostic(TEMPLATE_CODES[error.kind], error.location, error.message, error.hint);
  }
}

function failed(diagnostics: readonly Diagnostic[]): GenerateResult {
  return {
    changes: [],
    inputs: [],
    diagnostics: sortDiagnostics(diagnostics),
    trace: () => new Map(),
    shardVerdicts: () => [],
  };
}

function isEmpty({ models, actions, handlers }: ProjectSchema): boolean {
  return models.length + actions.length + handlers.length === 0;
}

function nothingToGenerate(paths: ProjectPaths): Diagnostic {
  return diagnostic(
    'FWGEN040',
    { file: paths.source || '.' },
    'No class is marked with @AutoBuilder or @FwAction',
    'Mark one, or set fw.generator.source to the folder that your sources lie in.',
  );
}
