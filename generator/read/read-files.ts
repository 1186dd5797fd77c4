import { type Diagnostic, diagnostic } from '../diagnostics.js';
import type { ActionSchema, ProjectSchema } from '../schema/project-schema.js';
import { attempt } from './attempt.js';
import { augmentationsIn, mayAugment } from './augmentations.js';
import { type ClassForm, readClassForm } from './class-form.js';
import { ts } from './compiler.js';
import { type Found, nothingFound, type ReadFindings } from './found.js';
import { reportNestedClasses } from './nested-classes.js';
import { reportComputedBase, reportNestedSubclasses } from './overlooked-classes.js';
import type { ParseError } from './parse-source.js';
import { readAction } from './read-action.js';
import { type ReadContext, report } from './read-context.js';
import { readEvent } from './read-event.js';
import { readHandler } from './read-handler.js';
import { stagingPlaces } from './read-memory.js';
import { readMigration } from './read-migrations.js';
import { readModel, reportUnmarkedModel } from './read-model.js';
import { readRepository } from './read-repository.js';
import type { ReadRequest } from './read-request.js';
import { readSaga, reportUnmarkedSaga } from './read-saga.js';
import { checkShards } from './read-shard-verdicts.js';
import { fileOf, type RequestedFiles, SourceFiles } from './source-files.js';

/**
 * Selects files with a decorator or a derived class. Other files are parsed when a type refers to them. The pattern
 * omits the names of the markers, because a file may import them under other names.
 */
const MARKERS =
  /(?:^|[=(;}]|\{\s|\b(?:export|default|abstract|return))\s*@[\p{ID_Start}_$]|\bclass\b[^{}]*\bextends\b/mu;

/**
 * Reads files without a stored result, and stores their results. Only a few trees stay in memory, so the files that a
 * file imports are read directly after it. Nearly every file is parsed once.
 */
export function readFiles(request: ReadRequest, files: readonly string[]): void {
  const context = contextOf(request);
  context.sources.setAugmenters(request.memory.augmenters);
  const wanted = new Set(files);
  const pending = [...files].reverse();
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (!wanted.delete(file)) continue;
    const parsed = readFile(request, context, file);
    for (const each of parsed) if (wanted.has(each)) pending.push(each);
  }
}

/** Follows the ids that an action stages. Reports an action that certainly stages on two shards. */
export function analyseAction(
  request: ReadRequest,
  schema: ProjectSchema,
  action: ActionSchema,
): ReadFindings {
  const context: ReadContext = { ...contextOf(request), diagnostics: [] };
  const { result, requested } = context.sources.trackRequests(() => checkShards(context, schema, [action]));
  return findingsOf({ ...context, diagnostics: [...result] }, requested);
}

function contextOf({ projectDirectory, paths, memory }: ReadRequest): ReadContext {
  memory.sources ??= new SourceFiles(projectDirectory, {
    onText: (file, text) => memory.noteText(file, text),
  });
  return { sources: memory.sources, paths, classes: new Map(), types: new Map(), diagnostics: [] };
}

/** Reads one file and stores its result. @returns files whose trees it requested */
function readFile({ paths, memory }: ReadRequest, shared: ReadContext, file: string): Iterable<string> {
  const context: ReadContext = { ...shared, diagnostics: [] };
  const found = nothingFound();
  const augments = new Set<string>();
  const isMigration = file.startsWith(`${paths.migrations}/`);
  const { requested } = context.sources.trackRequests(() =>
    attempt(context.diagnostics, file, () => {
      if (isMigration) return add(found.migrations, readMigration(context, file));
      // First, because the sources keep the text of a file only until the next file is read.
      for (const each of augmentedBy(context, file)) augments.add(each);
      if (!isDeclarationFile(file)) readClasses(context, file, found);
    }),
  );
  const given = withoutEmpty(found);
  const { diagnostics, syntaxErrors } = findingsOf(context, requested);
  memory.remember(file, {
    diagnostics,
    syntaxErrors,
    requested: requested.files,
    found: given,
    stagingPlaces: stagingPlaces(given),
    augments: [...augments],
  });
  return requested.parsed;
}

function findingsOf({ diagnostics, sources }: ReadContext, { files, parsed }: RequestedFiles): ReadFindings {
  const syntaxErrors: Diagnostic[] = [];
  for (const file of parsed) syntaxErrors.push(...sources.errorsOf(file).map(syntaxDiagnostic));
  return { diagnostics, syntaxErrors, requested: files };
}

function syntaxDiagnostic({ message, location }: ParseError): Diagnostic {
  return diagnostic('FWGEN001', location, message, 'Fix the syntax error.');
}

function readClasses(context: ReadContext, file: string, found: Found): void {
  const source = context.sources.matches(file, MARKERS) ? context.sources.load(file) : undefined;
  if (source === undefined) return;
  for (const statement of source.statements) {
    if (ts.isClassDeclaration(statement)) readClass(context, readClassForm(context, statement), found);
  }
  reportNestedClasses(context, source);
  reportNestedSubclasses(context, source);
}

/** Whether a file is a type declaration file. Nothing is generated for its classes. */
function isDeclarationFile(file: string): boolean {
  return /\.d\.[cm]?ts$/.test(file);
}

/** Returns the files to whose declarations a file adds members. */
function augmentedBy(context: ReadContext, file: string): readonly string[] {
  if (!mayAugment(context.sources.text(file) ?? '')) return [];
  const source = context.sources.load(file);
  return source === undefined ? [] : augmentationsIn(context, source).map(({ target }) => fileOf(target));
}

function readClass(context: ReadContext, form: ClassForm, found: Found): void {
  const { decorators } = form;
  const builder = decorators.get('AutoBuilder');
  if (builder === undefined) reportUnmarkedModel(context, form);
  else add(found.models, readModel(context, form, builder));
  const action = decorators.get('FwAction');
  if (action === undefined) reportRouteAlone(context, form);
  else add(found.actions, readAction(context, form, action));
  const handler = decorators.get('FwEventHandler');
  if (handler !== undefined) add(found.handlers, readHandler(context, form, handler));
  if (decorators.has('FwSaga')) add(found.sagas, readSaga(context, form));
  else reportUnmarkedSaga(context, form);
  add(found.events, readEvent(context, form));
  add(found.repositories, readRepository(context, form));
  reportComputedBase(context, form);
}

function reportRouteAlone(context: ReadContext, { node, decorators }: ClassForm): void {
  const route = decorators.get('HttpRoute');
  if (route === undefined) return;
  const name = node.name?.text ?? 'The class';
  const hint = 'Add @FwAction to the class.';
  report(context, 'FWGEN033', route, `${name} has @HttpRoute but not @FwAction`, hint);
}

function add<T>(list: T[], item: T | undefined): void {
  if (item !== undefined) list.push(item);
}

function withoutEmpty(found: Found): Partial<Found> {
  const { models, events, actions, handlers, sagas, repositories, migrations } = found;
  const kept: { -readonly [Kind in keyof Found]?: Found[Kind] } = {};
  if (models.length > 0) kept.models = models;
  if (events.length > 0) kept.events = events;
  if (actions.length > 0) kept.actions = actions;
  if (handlers.length > 0) kept.handlers = handlers;
  if (sagas.length > 0) kept.sagas = sagas;
  if (repositories.length > 0) kept.repositories = repositories;
  if (migrations.length > 0) kept.migrations = migrations;
  return kept;
}
