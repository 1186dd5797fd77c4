import { unboundedPatterns } from './check/check-patterns.js';
import { checkBodies, checkSchema } from './check/check-schema.js';
import { forgottenColumns } from './check/forgotten-columns.js';
import { routesWithoutRule } from './check/routes-without-rule.js';
import { contentHash } from './content-hash.js';
import {
  compareText,
  type Diagnostic,
  type DiagnosticCode,
  diagnostic,
  sortDiagnostics,
} from './diagnostics.js';
import { checkTemplateNames } from './emit/emit-extras.js';
import type { EmitInput } from './emit/emit-input.js';
import { emitModels, emitProject, traceProject } from './emit/emit-project.js';
import type { TracedText } from './emit/print/marks.js';
import { TemplateError, type TemplateProblem } from './emit/template-error.js';
import { PARTIALS, TEMPLATES } from './emit/template-names.js';
import { type LockedShapes, lockShapes } from './event-lock/lock-shapes.js';
import { keptModels } from './read/kept-models.js';
import { isNothing } from './read/read-memory.js';
import type { ShardVerdict } from './read/shards/verdict.js';
import { type InputOptions, type RunInputs, readInputs } from './read-inputs.js';
import type { EmittedFiles } from './schema/emitted-files.js';
import { hasSameIds, parseOutline, schemaAround } from './schema/outline.js';
import type { ProjectPaths } from './schema/paths.js';
import type { ModelSchema, ProjectSchema } from './schema/project-schema.js';
import type { FileChange } from './write/plan-write.js';
import { type WriteOptions, writeProject } from './write/write-project.js';

/** What to generate, with absolute paths. */
export interface GenerateOptions extends InputOptions, WriteOptions {
  /** Title of the API document. Default: `API`. */
  readonly title?: string;
  /** Version of the API document. Default: `1.0.0`. */
  readonly version?: string;
  /** Routes without a rule are mistakes. Default: `openRoutes` lists them. */
  readonly strict?: boolean;
  /** Called when a phase begins. */
  readonly onPhase?: (phase: Phase) => void;
}

/** One step of a run. */
export type Phase = 'read' | 'check' | 'emit' | 'write';

export type { TracedText } from './emit/print/marks.js';
export { MANIFEST_NAME } from './write/manifest.js';

/** The result of a run. */
export interface GenerateResult {
  /** Mistakes in the input, sorted by location. If there is one, nothing is written. */
  readonly diagnostics: readonly Diagnostic[];
  /**
   * Project-relative files and folders that the result depends on, whether they exist or not; empty after a mistake.
   */
  readonly inputs: readonly string[];
  /** All files of the output with their changes, sorted by path. */
  readonly changes: readonly FileChange[];
  /** Text of the manifest of these files; absent after a mistake and if the manifest is unchanged. */
  readonly manifest?: string;
  /** Returns the declaration that causes each line of the generated files, by path. Computed when called. */
  readonly trace: () => ReadonlyMap<string, TracedText>;
  /** Returns the result of analysing the shards of each action. Computed when called. */
  readonly shardVerdicts: () => Promise<readonly ShardVerdict[]>;
  /** Columns of models that no migration mentions, as `table.column`. Computed when called. */
  readonly forgottenColumns: () => readonly string[];
  /** Returns routes that every caller may call, because their actions have no rule. Computed when called. */
  readonly openRoutes: () => readonly Diagnostic[];
  /** The open routes in files that were read since the last emission. @internal */
  readonly newOpenRoutes: () => readonly Diagnostic[];
}

/**
 * Reads the sources, checks them and writes the generated files. Sources are parsed, never executed. Mistakes are
 * collected in the result; a throw is a bug of the generator.
 */
export async function generate(options: GenerateOptions): Promise<GenerateResult> {
  options.onPhase?.('read');
  const readResult = await readInputs(options);
  if ('problems' in readResult) return failed(readResult.problems);
  const key = emissionKey(options, readResult);
  const known = settled(options, readResult, key) ?? (await emitBodies(options, readResult, key));
  if (known !== undefined) return known;
  const prepared = prepare(options, readResult, key);
  if ('diagnostics' in prepared) return failed(prepared.diagnostics);
  const { input, locked } = prepared;
  options.onPhase?.('emit');
  const isKept = keptFor(options, readResult, key);
  const emitted = emit({ ...input, isKept });
  if ('code' in emitted) return failed([emitted]);
  const locks = new Map(
    locked.files.flatMap(({ path, text }) => (text === undefined ? [] : [[path, text] as const])),
  );
  return {
    ...(await write(options, readResult, key, { ...emitted, locks })),
    trace: () => traceAll(input, locked),
  };
}

/** The result if the output on disk was emitted from the same input, so that nothing needs to be done. */
function settled(options: GenerateOptions, readResult: RunInputs, key: string): GenerateResult | undefined {
  const right = rightOutput(options, readResult, key);
  if (right === undefined || !isNothing(right.changed)) return undefined;
  return {
    ...resultOf(options, readResult),
    changes: right.paths.map((path) => ({ path, kind: 'unchanged' as const })),
    diagnostics: [],
  };
}

/**
 * Emits the files of models if only bodies of models have changed since the last emission. Leaves the other files
 * unchanged. Returns undefined if one of the models has a mistake, because its diagnostics need the whole project.
 */
async function emitBodies(
  options: GenerateOptions,
  readResult: RunInputs,
  key: string,
): Promise<GenerateResult | undefined> {
  const right = rightOutput(options, readResult, key);
  // Templates of the user may use more than one model.
  if (right === undefined || options.clean === true || readResult.templates.size > 0) return undefined;
  options.onPhase?.('emit');
  const models = right.changed;
  const schema = schemaAround(models, parseOutline(readResult.outline));
  if (checkBodies(schema, models).length > 0) return undefined;
  const { paths, templates } = readResult;
  const input = emitInput(options, { schema, paths, templates });
  const generated = new Map(emitModels(input, models));
  const others = right.paths.filter((path) => isGenerated(readResult, path) && !generated.has(path));
  const emitted = { generated, migrations: new Map<string, string>(), kept: new Set(others) };
  const result = await write(options, readResult, key, emitted);
  const written = new Set(result.changes.map(({ path }) => path));
  const rest = right.paths.filter((path) => !written.has(path));
  return {
    ...result,
    changes: [...result.changes, ...rest.map((path) => ({ path, kind: 'unchanged' as const }))].sort((a, b) =>
      compareText(a.path, b.path),
    ),
  };
}

/** Models whose files need not be emitted because they are known to be up to date; undefined if there are none. */
function keptFor(
  { memory, clean }: GenerateOptions,
  { templates, outline }: RunInputs,
  key: string,
): ((model: ModelSchema) => boolean) | undefined {
  // The user's templates might emit the same files.
  if (clean === true || templates.size > 0 || memory?.rightOutput(key) === undefined) return undefined;
  return keptModels(memory.read, outline);
}

/** The output on disk, if it is up to date except for bodies of models. */
function rightOutput(
  { memory }: GenerateOptions,
  { diagnostics }: RunInputs,
  key: string,
): { readonly paths: readonly string[]; readonly changed: readonly ModelSchema[] } | undefined {
  const right = diagnostics.length > 0 ? undefined : memory?.rightOutput(key);
  if (right === undefined || right.changed === 'more') return undefined;
  return { paths: right.paths, changed: right.changed };
}

/** Whether the path is in the output folder or the client folder. First migrations are in neither. */
function isGenerated({ paths: { output, client = output } }: RunInputs, path: string): boolean {
  return path.startsWith(`${output}/`) || path.startsWith(`${client}/`);
}

/** Writes the emitted files. @param key inputs of the current output, except sources */
async function write(
  options: GenerateOptions,
  readResult: RunInputs,
  key: string,
  emitted: EmittedFiles,
): Promise<GenerateResult> {
  options.onPhase?.('write');
  const { changes, diagnostics, manifest } = await writeProject(
    options.projectDirectory,
    readResult.paths,
    emitted,
    options,
  );
  if (diagnostics.length > 0) return { ...failed(diagnostics), diagnostics };
  const written = emitted.locks;
  const locks = readResult.locks.map((each) => ({ ...each, text: written?.get(each.path) ?? each.text }));
  const next =
    written === undefined || written.size === 0
      ? key
      : emissionKey(options, { paths: readResult.paths, templates: readResult.templates, locks });
  options.memory?.settle(next, readResult.outline);
  const created = options.dryRun === true ? new Map<string, string>() : filesOfUser(emitted, changes);
  for (const [path, text] of created) options.memory?.read.rememberWritten(path, text);
  const result = resultOf(options, readResult);
  return {
    ...result,
    inputs: [...new Set([...result.inputs, ...created.keys()])],
    changes,
    diagnostics,
    ...(manifest === undefined ? {} : { manifest }),
  };
}

/** Locks and first migrations that a run has written, by path. The next run reads them. */
function filesOfUser(
  { migrations, locks = new Map() }: EmittedFiles,
  changes: readonly FileChange[],
): ReadonlyMap<string, string> {
  const created = new Set(changes.filter(({ kind }) => kind === 'create').map(({ path }) => path));
  return new Map([...locks, ...[...migrations].filter(([path]) => created.has(path))]);
}

/** The result of a run without mistakes. */
function resultOf(
  options: GenerateOptions,
  readResult: RunInputs,
): Omit<GenerateResult, 'changes' | 'diagnostics' | 'manifest'> {
  const { inputs, locks } = readResult;
  return {
    inputs: [...inputs, ...locks.map(({ path }) => path)],
    trace: () => {
      const locked = lockShapes(locks, readResult.schema);
      return traceAll({ ...emitInput(options, readResult), lockedTypes: locked.types }, locked);
    },
    shardVerdicts: () => shardVerdicts(options, readResult),
    forgottenColumns: () => forgottenColumns(options.projectDirectory, readResult.schema),
    openRoutes: () => warningsOf(readResult.schema),
    newOpenRoutes: () => warningsOf(readResult.newPart),
  };
}

/** With `strict` these are mistakes. */
function warningsOf(schema: ProjectSchema): readonly Diagnostic[] {
  return [...routesWithoutRule(schema), ...unboundedPatterns(schema)];
}

/** Returns a hash of all inputs of the output, except the schema. */
function emissionKey(
  { title, version, strict }: GenerateOptions,
  { paths, templates, locks }: Pick<RunInputs, 'paths' | 'templates' | 'locks'>,
): string {
  return contentHash(JSON.stringify([paths, title, version, locks, strict === true, [...templates]]));
}

async function shardVerdicts(
  { projectDirectory }: GenerateOptions,
  { paths, schema }: RunInputs,
): Promise<readonly ShardVerdict[]> {
  const { readShardVerdicts } = await import('./read/read-shard-verdicts.js');
  return readShardVerdicts(projectDirectory, paths, schema);
}

function emitInput(
  options: GenerateOptions,
  { schema, paths, templates }: Pick<RunInputs, 'schema' | 'paths' | 'templates'>,
): EmitInput {
  const { title = 'API', version = '1.0.0' } = options;
  return { schema, paths, title, version, templates };
}

function traceAll(input: EmitInput, { files }: LockedShapes): ReadonlyMap<string, TracedText> {
  const locks = files.flatMap(({ path, text, origins }) =>
    text === undefined ? [] : [[path, { text, origins }] as const],
  );
  return new Map([...traceProject(input), ...locks]);
}

interface Prepared {
  readonly input: EmitInput;
  readonly locked: LockedShapes;
}

function prepare(
  options: GenerateOptions,
  readResult: RunInputs,
  key: string,
): Prepared | { readonly diagnostics: readonly Diagnostic[] } {
  const { schema, diagnostics, paths, templates, locks } = readResult;
  options.onPhase?.('check');
  const open = options.strict === true ? warningsOf(schema) : [];
  const { memory } = options;
  const part = hasSameIds(memory?.read.outline, readResult.outline) ? readResult.newPart : schema;
  const problems = [...diagnostics, ...checkSchema(schema, part), ...open];
  if (problems.length > 0) return { diagnostics: problems };
  if (isEmpty(schema)) return { diagnostics: [nothingToGenerate(paths)] };
  // The key includes the texts of the locks, so locked shapes have been compared if the key is unchanged.
  const isLocked = memory?.emitted === key ? without(part.events) : undefined;
  const locked = lockShapes(locks, schema, isLocked);
  if (locked.diagnostics.length > 0) return { diagnostics: locked.diagnostics };
  const misplaced = checkTemplateNames(templates, [...Object.keys(TEMPLATES), ...PARTIALS]);
  if (misplaced.length > 0) return { diagnostics: misplaced };
  memory?.printed.printFor(readResult.outline);
  const input = {
    ...emitInput(options, readResult),
    lockedTypes: locked.types,
    printedTexts: memory?.printed,
  };
  return { input, locked };
}

/** Returns a filter for declarations that are not in the list. */
function without(declarations: readonly object[]): (declaration: object) => boolean {
  const all = new Set(declarations);
  return (declaration) => !all.has(declaration);
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
    shardVerdicts: () => Promise.resolve([]),
    forgottenColumns: () => [],
    openRoutes: () => [],
    newOpenRoutes: () => [],
  };
}

function isEmpty({ models, actions, handlers, sagas }: ProjectSchema): boolean {
  return models.length + actions.length + handlers.length + sagas.length === 0;
}

function nothingToGenerate(paths: ProjectPaths): Diagnostic {
  return diagnostic(
    'FWGEN040',
    { file: paths.source || '.' },
    'No class is marked with @AutoBuilder or @FwAction',
    'Mark a class, or set fw.generator.source to the folder of your sources.',
  );
}
