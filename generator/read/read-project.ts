import type { Diagnostic } from '../diagnostics.js';
import type { ProjectPaths } from '../schema/paths.js';
import type { ActionSchema, ProjectSchema } from '../schema/project-schema.js';
import { attempt } from './attempt.js';
import { listMigrations, listSources } from './list-files.js';
import { namesakes } from './migration-files.js';
import { type Found, type Look, nothingFound, ReadMemory } from './read-memory.js';

/** What reading gives: everything that could be understood, and every mistake on the way. */
export interface ReadResult {
  readonly schema: ProjectSchema;
  readonly diagnostics: readonly Diagnostic[];
  /** Folders that were looked into and files that were asked for, whether they exist or not. */
  readonly inputs: readonly string[];
}

/**
 * Reads all sources of a project. Mistakes are collected, never thrown; disk errors are mistakes as well. The compiler
 * is loaded only if there is a file that `memory` knows nothing of.
 */
export async function readProject(
  projectDirectory: string,
  paths: ProjectPaths,
  memory: ReadMemory = new ReadMemory(),
): Promise<ReadResult> {
  const { files, folders, diagnostics } = listFiles(projectDirectory, paths);
  const request = { projectDirectory, paths, memory };
  const unread = files.filter((file) => memory.resultOf(file) === undefined);
  if (unread.length > 0) {
    const { readFiles } = await import('./read-files.js');
    readFiles(request, unread);
  }
  const inputs = new Set([...folders, paths.migrations, ...files]);
  const schema = nothingFound();
  const syntaxErrors: Diagnostic[] = [];
  const note = (look: Look): void => {
    diagnostics.push(...look.diagnostics);
    syntaxErrors.push(...look.syntaxErrors);
    for (const file of look.asked) inputs.add(file);
  };
  for (const file of files) {
    const result = memory.resultOf(file);
    if (result === undefined) continue;
    add(schema, result.found);
    note(result);
  }
  // While a file does not parse, nothing else is said: what other files miss in it may well be there.
  if (syntaxErrors.length > 0) return { schema: nothingFound(), diagnostics: syntaxErrors, inputs: [] };
  for (const look of await lookAtShards(request, schema)) note(look);
  if (syntaxErrors.length > 0) return { schema: nothingFound(), diagnostics: syntaxErrors, inputs: [] };
  return { schema, diagnostics, inputs: [...inputs] };
}

/** What is read, where, and what is known already. */
export interface ReadRequest {
  readonly projectDirectory: string;
  readonly paths: ProjectPaths;
  readonly memory: ReadMemory;
}

interface ListedFiles {
  /** Sources and migrations. */
  readonly files: readonly string[];
  readonly folders: readonly string[];
  readonly diagnostics: Diagnostic[];
}

function listFiles(projectDirectory: string, { source, output, migrations }: ProjectPaths): ListedFiles {
  const diagnostics: Diagnostic[] = [];
  const sources = attempt(diagnostics, source, () =>
    listSources(projectDirectory, source, [output, migrations]),
  );
  const listed = attempt(diagnostics, migrations, () => listMigrations(projectDirectory, migrations)) ?? [];
  diagnostics.push(...namesakes(listed));
  return { files: [...(sources?.files ?? []), ...listed], folders: sources?.folders ?? [], diagnostics };
}

function add(schema: Found, found: Partial<Found>): void {
  schema.models.push(...(found.models ?? []));
  schema.events.push(...(found.events ?? []));
  schema.actions.push(...(found.actions ?? []));
  schema.handlers.push(...(found.handlers ?? []));
  schema.sagas.push(...(found.sagas ?? []));
  schema.repositories.push(...(found.repositories ?? []));
  schema.migrations.push(...(found.migrations ?? []));
}

/** Follows the ids of each action that stages more than once: one that stages once cannot stage on two shards. */
async function lookAtShards(request: ReadRequest, schema: ProjectSchema): Promise<readonly Look[]> {
  const suspects = schema.actions.filter(({ stagingCalls }) => stagingCalls > 1);
  if (suspects.length === 0) return [];
  const looks = request.memory.shardLooks(modelsOf(schema));
  const unknown = suspects.filter((action) => !looks.has(placeOf(action)));
  if (unknown.length > 0) {
    const { lookAtAction } = await import('./read-files.js');
    for (const action of unknown) looks.set(placeOf(action), lookAtAction(request, schema, action));
  }
  return suspects.flatMap((action) => looks.get(placeOf(action)) ?? []);
}

function placeOf({ file, className }: ActionSchema): string {
  return `${file}#${className}`;
}

/** What following an id takes from the schema: the rest it takes from files. */
function modelsOf({ models, repositories }: ProjectSchema): string {
  return JSON.stringify([
    models.map(({ name, file, sharded }) => [name, file, sharded]),
    repositories.map(({ name, file, model }) => [name, file, model.name]),
  ]);
}
