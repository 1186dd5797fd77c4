import type { Diagnostic } from '../diagnostics.js';
import { outlineOf, printOutline } from '../schema/outline.js';
import type { ProjectPaths } from '../schema/paths.js';
import type { ProjectSchema } from '../schema/project-schema.js';
import { attempt } from './attempt.js';
import { type Found, nothingFound, type ReadFindings } from './found.js';
import { listMigrations, listSources } from './list-files.js';
import { namesakes } from './migration-files.js';
import { placeOf, ReadMemory } from './read-memory.js';
import type { ReadRequest } from './read-request.js';

/** The result of reading: all valid declarations and every mistake. */
export interface ReadResult {
  /** Assembled on first use, because a run may not need the results of earlier runs. */
  readonly schema: ProjectSchema;
  /** Text of its outline, see `Outline`. */
  readonly outline: string;
  readonly diagnostics: readonly Diagnostic[];
  /** The part of `schema` that was read since the last emission. */
  readonly newPart: ProjectSchema;
  /** Folders that were listed and files that were requested, whether they exist or not. */
  readonly inputs: readonly string[];
}

/**
 * Reads all sources of a project. Collects mistakes instead of throwing them; errors of the disk count as mistakes.
 * Loads the compiler only if `memory` lacks the result of a file.
 */
export async function readProject(
  projectDirectory: string,
  paths: ProjectPaths,
  memory: ReadMemory = new ReadMemory(),
): Promise<ReadResult> {
  const { files, folders, diagnostics } = listFiles(projectDirectory, paths);
  const request = { projectDirectory, paths, memory };
  await readUnread(request, files);
  const inputs = new Set([...folders, paths.migrations, ...files]);
  const syntaxErrors: Diagnostic[] = [];
  const note = (findings: ReadFindings): void => {
    diagnostics.push(...findings.diagnostics);
    syntaxErrors.push(...findings.syntaxErrors);
    for (const file of findings.requested) inputs.add(file);
  };
  for (const file of files) {
    const result = memory.resultOf(file);
    if (result !== undefined) note(result);
  }
  const found = new FoundInFiles(files, memory);
  // After a syntax error only syntax errors are reported, because they may cause other diagnostics.
  if (syntaxErrors.length > 0) return nothingRead(syntaxErrors);
  for (const findings of await analyseShards(request, files, found)) note(findings);
  if (syntaxErrors.length > 0) return nothingRead(syntaxErrors);
  return new ReadFiles(found, { diagnostics, inputs: [...inputs], newFiles: memory.newFiles });
}

/**
 * Reads the files without a stored result. Then reads files again if declarations that they depend on have
 * augmentations.
 */
async function readUnread(request: ReadRequest, files: readonly string[]): Promise<void> {
  const { memory } = request;
  const unread = files.filter((file) => memory.resultOf(file) === undefined);
  if (unread.length === 0) return;
  const { readFiles } = await import('./read-files.js');
  readFiles(request, unread);
  memory.forgetUnaugmented();
  await readUnread(request, files);
}

function nothingRead(diagnostics: readonly Diagnostic[]): ReadResult {
  const schema = nothingFound();
  return { schema, newPart: schema, outline: printOutline(outlineOf(schema)), diagnostics, inputs: [] };
}

/** The declarations of all files of a project, assembled on first use. */
class FoundInFiles {
  readonly #files: readonly string[];
  readonly #memory: ReadMemory;
  #schema: ProjectSchema | undefined;
  #outline: string | undefined;

  constructor(files: readonly string[], memory: ReadMemory) {
    this.#files = files;
    this.#memory = memory;
  }

  get schema(): ProjectSchema {
    this.#schema ??= this.part(this.#files);
    return this.#schema;
  }

  part(files: readonly string[]): ProjectSchema {
    const schema = nothingFound();
    for (const file of files) add(schema, this.#memory.resultOf(file)?.found ?? {});
    return schema;
  }

  get outline(): string {
    // Bodies of models do not affect the outline.
    const known = this.#memory.changes === 'more' ? undefined : this.#memory.outline;
    this.#outline ??= known ?? printOutline(outlineOf(this.schema));
    return this.#outline;
  }
}

class ReadFiles implements ReadResult {
  readonly diagnostics: readonly Diagnostic[];
  readonly inputs: readonly string[];
  readonly #found: FoundInFiles;
  readonly #newFiles: readonly string[];

  constructor(
    found: FoundInFiles,
    {
      diagnostics,
      inputs,
      newFiles,
    }: Pick<ReadResult, 'diagnostics' | 'inputs'> & { readonly newFiles: readonly string[] },
  ) {
    this.#found = found;
    this.#newFiles = newFiles;
    this.diagnostics = diagnostics;
    this.inputs = inputs;
  }

  get newPart(): ProjectSchema {
    return this.#found.part(this.#newFiles);
  }

  get schema(): ProjectSchema {
    return this.#found.schema;
  }

  get outline(): string {
    return this.#found.outline;
  }
}

interface ListedFiles {
  /** Sources and migrations. */
  readonly files: readonly string[];
  readonly folders: readonly string[];
  readonly diagnostics: Diagnostic[];
}

function listFiles(
  projectDirectory: string,
  { source, output, migrations, client }: ProjectPaths,
): ListedFiles {
  const diagnostics: Diagnostic[] = [];
  const sources = attempt(diagnostics, source, () =>
    listSources(projectDirectory, source, [output, migrations, ...(client === undefined ? [] : [client])]),
  );
  const listed = attempt(diagnostics, migrations, () => listMigrations(projectDirectory, migrations)) ?? [];
  diagnostics.push(...namesakes(listed));
  return { files: [...(sources?.files ?? []), ...listed], folders: sources?.folders ?? [], diagnostics };
}

/** Most files contain declarations of one kind. */
function add(schema: Found, found: Partial<Found>): void {
  const { models, events, actions, handlers, sagas, repositories, migrations } = found;
  if (models !== undefined) schema.models.push(...models);
  if (events !== undefined) schema.events.push(...events);
  if (actions !== undefined) schema.actions.push(...actions);
  if (handlers !== undefined) schema.handlers.push(...handlers);
  if (sagas !== undefined) schema.sagas.push(...sagas);
  if (repositories !== undefined) schema.repositories.push(...repositories);
  if (migrations !== undefined) schema.migrations.push(...migrations);
}

/** Follows the ids of each action that stages more than once. */
async function analyseShards(
  request: ReadRequest,
  files: readonly string[],
  found: FoundInFiles,
): Promise<readonly ReadFindings[]> {
  const { memory } = request;
  const suspects = new Set(files.flatMap((file) => memory.resultOf(file)?.stagingPlaces ?? []));
  const findings = memory.shardFindings(found.outline);
  const unknown = [...suspects].filter((place) => !findings.has(place));
  if (unknown.length > 0) {
    const { analyseAction } = await import('./read-files.js');
    const { schema } = found;
    for (const action of schema.actions) {
      const place = placeOf(action);
      if (unknown.includes(place)) findings.set(place, analyseAction(request, schema, action));
    }
  }
  return [...suspects].flatMap((place) => findings.get(place) ?? []);
}
