import { misspelledTags, unheardTags } from './check/check-fields.js';
import { unboundedPatterns } from './check/check-patterns.js';
import { unstorableResults } from './check/check-results.js';
import { routesOverShards, routesWithoutRule } from './check/check-routes.js';
import { checkSchema } from './check/check-schema.js';
import { type Diagnostic, diagnostic, sortDiagnostics } from './diagnostics.js';
import { type EmitInput, emitProject, traceProject } from './emit/emit-project.js';
import type { TracedText } from './emit/print/marks.js';
import { checkTemplateNames } from './emit/template-names.js';
import { TemplateError } from './emit/user-template.js';
import { type LockDrafts, type LockedShapes, lockShapes } from './event-lock/lock-shapes.js';
import { listMigrations } from './read/list-files.js';
import type { ShardVerdict } from './read/shards/verdict.js';
import { type InputOptions, type RunInputs, readInputs } from './read-inputs.js';
import type { EmittedFiles } from './schema/emitted-files.js';
import type { ProjectPaths } from './schema/paths.js';
import type { ProjectSchema } from './schema/project-schema.js';
import type { FileChange } from './write/plan-write.js';
import { type WriteOptions, writeProject } from './write/write-project.js';

/** What to generate, with absolute paths. */
export interface GenerateOptions extends InputOptions, WriteOptions {
  /** Title of the API document. Default: `API`. */
  readonly title?: string;
  /** Version of the API document. Default: `1.0.0`. */
  readonly version?: string;
  /** The time after which new migrations are named. Default: the current time. */
  readonly now?: Date;
  /** Warnings are mistakes. Default: `warnings` lists them. */
  readonly strict?: boolean;
  /** @internal Of a process that watches: what its runs have added to the lock files. */
  readonly drafts?: LockDrafts;
  /** Called when a phase begins. */
  readonly onPhase?: (phase: Phase) => void;
}

/** One step of a run. */
type Phase = 'read' | 'check' | 'emit' | 'write';

export type { ProjectFolders } from './check/check-folders.js';
export type { TracedText } from './emit/print/marks.js';
export { MANIFEST_NAME } from './schema/emitted-files.js';

/** The result of a run. */
export interface GenerateResult {
  /** Mistakes in the input, sorted by location. If there is one, nothing is written. */
  readonly diagnostics: readonly Diagnostic[];
  /** Project-relative files and folders that the result depends on, whether they exist or not. */
  readonly inputs: readonly string[];
  /** All files of the output with their changes, sorted by path. */
  readonly changes: readonly FileChange[];
  /** @internal Returns the declaration that causes each line of the generated files, by path. Computed when called. */
  readonly trace: () => ReadonlyMap<string, TracedText>;
  /** @internal Returns the result of analysing the shards of each action. Computed when called. */
  readonly shardVerdicts: () => readonly ShardVerdict[];
  /** Returns what is probably a mistake, such as a route without a rule. Computed when called. */
  readonly warnings: () => readonly Diagnostic[];
}

/**
 * Reads the sources, checks them and writes the generated files. Sources are parsed, never executed. Mistakes are
 * collected in the result; a throw is a bug of the generator.
 */
export async function generate(options: GenerateOptions): Promise<GenerateResult> {
  options.onPhase?.('read');
  const readResult = await readInputs(options);
  if ('problems' in readResult) return failed(readResult.problems, []);
  const { inputs, paths } = readResult;
  options.onPhase?.('check');
  const prepared = prepare(options, readResult);
  if ('diagnostics' in prepared) return failed(prepared.diagnostics, inputs);
  const { input, locked } = prepared;
  options.onPhase?.('emit');
  const emitted = emit(input);
  if ('code' in emitted) return failed([emitted], inputs);
  options.onPhase?.('write');
  const files = { ...emitted, locks: new Map(locked.files.map(({ path, text }) => [path, text])) };
  const { changes, diagnostics, isStale } = await writeProject(
    options.projectDirectory,
    paths,
    files,
    // A concurrent run may have written the same migrations under the names of another time.
    { ...options, isCurrent: () => emitted.migrations.size === 0 || hasOnly(options, readResult) },
  );
  if (isStale === true) return generate(options);
  if (diagnostics.length > 0) return failed(diagnostics, inputs);
  return {
    diagnostics,
    inputs,
    changes,
    trace: () => traceAll(input, locked),
    shardVerdicts: readResult.shardVerdicts,
    warnings: () => warningsOf(readResult),
  };
}

/** Whether the migrations folder has no other files than those that were read. */
function hasOnly({ projectDirectory }: GenerateOptions, { paths, schema }: RunInputs): boolean {
  const present = listMigrations(projectDirectory, paths.migrations);
  const known = new Set(schema.migrations.map(({ file }) => file));
  return present.every((file) => known.has(file));
}

/** With `strict` these are mistakes. */
function warningsOf({ schema, warnings }: Pick<RunInputs, 'schema' | 'warnings'>): readonly Diagnostic[] {
  return sortDiagnostics([
    ...warnings(),
    ...routesWithoutRule(schema),
    ...routesOverShards(schema),
    ...unboundedPatterns(schema),
    ...misspelledTags(schema),
    ...unheardTags(schema),
    ...unstorableResults(schema),
  ]);
}

function traceAll(input: EmitInput, { files }: LockedShapes): ReadonlyMap<string, TracedText> {
  return new Map([...traceProject(input), ...files.map((file) => [file.path, file] as const)]);
}

interface Prepared {
  readonly input: EmitInput;
  readonly locked: LockedShapes;
}

function prepare(
  options: GenerateOptions,
  readResult: RunInputs,
): Prepared | { readonly diagnostics: readonly Diagnostic[] } {
  const { schema, diagnostics, paths, templates, locks } = readResult;
  const open = options.strict === true ? warningsOf(readResult) : [];
  const problems = [...diagnostics, ...checkSchema(schema), ...open];
  if (problems.length > 0) return { diagnostics: problems };
  if (isEmpty(schema)) return { diagnostics: [nothingToGenerate(paths)] };
  const locked = lockShapes(locks, schema, options.drafts);
  if (locked.diagnostics.length > 0) return { diagnostics: locked.diagnostics };
  const misplaced = checkTemplateNames(templates);
  if (misplaced.length > 0) return { diagnostics: misplaced };
  const { title = 'API', version = '1.0.0', now = new Date() } = options;
  const input = { schema, paths, title, version, now, templates, lockedTypes: locked.types };
  return { input, locked };
}

function emit(input: EmitInput): EmittedFiles | Diagnostic {
  try {
    return emitProject(input);
  } catch (error) {
    if (error instanceof TemplateError) return error.diagnostic;
    throw error;
  }
}

function failed(diagnostics: readonly Diagnostic[], inputs: readonly string[]): GenerateResult {
  return {
    changes: [],
    inputs,
    diagnostics: sortDiagnostics(diagnostics),
    trace: () => new Map(),
    shardVerdicts: () => [],
    warnings: () => [],
  };
}

function isEmpty({ models, actions, handlers, sagas }: ProjectSchema): boolean {
  return models.length + actions.length + handlers.length + sagas.length === 0;
}

function nothingToGenerate(paths: ProjectPaths): Diagnostic {
  const message = 'No class is marked with @AutoBuilder or @FwAction';
  const hint = 'Mark a class, or set fw.generator.source to the folder of your sources.';
  return diagnostic('FWGEN040', { file: paths.source || '.' }, message, hint);
}
