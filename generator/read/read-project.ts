import type { ts } from 'ts-morph';
import { type Diagnostic, diagnostic } from '../diagnostics.js';
import type { ProjectPaths } from '../schema/paths.js';
import type { ProjectSchema } from '../schema/project-schema.js';
import { isSystemError } from '../system-error.js';
import { listSources, type SourceList } from './list-files.js';
import { readAction } from './read-action.js';
import { type ReadContext, report } from './read-context.js';
import { readDecorator } from './read-decorator.js';
import { readEvent } from './read-event.js';
import { readHandler } from './read-handler.js';
import { type FileResult, type Found, nothingFound, type ReadMemory } from './read-memory.js';
import { readMigrations } from './read-migrations.js';
import { readModel, reportUnmarkedModel } from './read-model.js';
import { readRepository } from './read-repository.js';
import { checkShards } from './read-shard-verdicts.js';
import { type ParseError, SourceFiles } from './source-files.js';
import { classesOf } from './syntax.js';

/** What reading gives: everything that could be understood, and every mistake on the way. */
export interface ReadResult {
  readonly schema: ProjectSchema;
  readonly diagnostics: readonly Diagnostic[];
  /** Folders that were looked into and files that were asked for, whether they exist or not. */
  readonly inputs: readonly string[];
}

/**
 * Only files with a decorator or a derived class are parsed; others are parsed when a type is followed into them. Names
 * are not looked for: a file may import the markers under names of its own.
 */
const MARKERS = /^\s*@[\p{ID_Start}_$]|\bclass\b[^{}]*\bextends\b/mu;

/** Reads all sources of a project. Mistakes are collected, never thrown; disk errors are mistakes as well. */
export function readProject(projectDirectory: string, paths: ProjectPaths, memory?: ReadMemory): ReadResult {
  const sources = memory?.sources ?? new SourceFiles(projectDirectory);
  const context: ReadContext = {
    sources,
    paths,
    classes: new Map(),
    diagnostics: [],
  };
  sources.startRun();
  const found = nothingFound();
  const { files, folders } = sourcesOf(context, projectDirectory);
  for (const file of files) {
    if (memory === undefined) readFile(context, file, found);
    else addResult(context, found, recallFile(context, memory, file));
  }
  const migrations =
    attempt(context, paths.migrations, () => readMigrations(context, projectDirectory)) ?? [];
  const { syntaxErrors } = context.sources;
  if (syntaxErrors.length > 0)
    return { schema: NOTHING, diagnostics: syntaxErrors.map(syntaxDiagnostic), inputs: [] };
  const schema: ProjectSchema = { ...found, migrations };
  // One that stages once cannot stage on two shards.
  const suspects = found.actions.filter(({ stagingCalls }) => stagingCalls > 1);
  return {
    schema,
    diagnostics: [...context.diagnostics, ...checkShards(context, schema, suspects)],
    inputs: [...new Set([...folders, paths.migrations, ...files, ...sources.asked.files])],
  };
}

/** While a file does not parse, nothing else is said: what other files miss in it may well be there. */
const NOTHING: ProjectSchema = {
  models: [],
  events: [],
  actions: [],
  handlers: [],
  repositories: [],
  migrations: [],
};

function syntaxDiagnostic({ message, location }: ParseError): Diagnostic {
  return diagnostic('FWGEN001', location, message, 'Correct the syntax.');
}

function sourcesOf(context: ReadContext, projectDirectory: string): SourceList {
  const { source, output, migrations } = context.paths;
  const list = attempt(context, source, () => listSources(projectDirectory, source, [output, migrations]));
  return list ?? { files: [], folders: [] };
}

/** What a file gives: as remembered, or read now. */
function recallFile(context: ReadContext, memory: ReadMemory, file: string): FileResult {
  const known = memory.resultOf(file);
  if (known !== undefined) {
    memory.sources.noteAsked(known.asked);
    return known;
  }
  const own: ReadContext = { ...context, classes: new Map(), diagnostics: [] };
  const found = nothingFound();
  const asked = memory.sources.asking(() => readFile(own, file, found));
  const result: FileResult = { found, diagnostics: own.diagnostics, asked };
  memory.remember(file, result);
  return result;
}

function addResult(context: ReadContext, found: Found, result: FileResult): void {
  context.diagnostics.push(...result.diagnostics);
  found.models.push(...result.found.models);
  found.events.push(...result.found.events);
  found.actions.push(...result.found.actions);
  found.handlers.push(...result.found.handlers);
  found.repositories.push(...result.found.repositories);
}

function readFile(context: ReadContext, file: string, found: Found): void {
  const source = attempt(context, file, () =>
    context.sources.matches(file, MARKERS) ? context.sources.load(file) : undefined,
  );
  for (const node of source === undefined ? [] : classesOf(source)) readClass(context, node, found);
}

function readClass(context: ReadContext, node: ts.ClassDeclaration, found: Found): void {
  const builder = readDecorator(context, node, 'AutoBuilder');
  const action = readDecorator(context, node, 'FwAction');
  const route = readDecorator(context, node, 'HttpRoute');
  if (builder !== undefined) add(found.models, readModel(context, node, builder));
  else reportUnmarkedModel(context, node);
  if (action !== undefined) add(found.actions, readAction(context, node, { action, route }));
  else if (route !== undefined) {
    const name = node.name?.text ?? 'The class';
    report(
      context,
      'FWGEN033',
      route,
      `${name} has a route but no @FwAction`,
      'Mark the class with @FwAction as well.',
    );
  }
  const handler = readDecorator(context, node, 'FwEventHandler');
  if (handler !== undefined) add(found.handlers, readHandler(context, node, handler));
  add(found.events, readEvent(context, node));
  add(found.repositories, readRepository(context, node));
}

function add<T>(list: T[], item: T | undefined): void {
  if (item !== undefined) list.push(item);
}

/** Runs a step that touches the disk; its failure becomes a diagnostic. */
function attempt<T>(context: ReadContext, file: string, step: () => T): T | undefined {
  try {
    return step();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const hint = 'Check that it exists and may be read.';
    context.diagnostics.push(
      diagnostic('FWGEN038', { file: file || '.' }, `Cannot read: ${error.code}`, hint),
    );
    return undefined;
  }
}
