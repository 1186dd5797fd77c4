import { type Diagnostic, diagnostic } from '../diagnostics.js';
import type { ActionSchema, ProjectSchema } from '../schema/project-schema.js';
import { attempt } from './attempt.js';
import type { ts } from './compiler.js';
import { readAction } from './read-action.js';
import { type ReadContext, report } from './read-context.js';
import { readDecorator } from './read-decorator.js';
import { readEvent } from './read-event.js';
import { readHandler } from './read-handler.js';
import { type Found, type Look, nothingFound } from './read-memory.js';
import { readMigration } from './read-migrations.js';
import { readModel, reportUnmarkedModel } from './read-model.js';
import type { ReadRequest } from './read-project.js';
import { readRepository } from './read-repository.js';
import { readSaga, reportUnmarkedSaga } from './read-saga.js';
import { checkShards } from './read-shard-verdicts.js';
import { type Asked, type ParseError, SourceFiles } from './source-files.js';
import { classesOf } from './syntax.js';

/**
 * Only files with a decorator or a derived class are parsed; others are parsed when a type is followed into them. Names
 * are not looked for: a file may import the markers under names of its own.
 */
const MARKERS = /^\s*@[\p{ID_Start}_$]|\bclass\b[^{}]*\bextends\b/mu;

/**
 * Reads files that nothing is known of, and remembers what they give. Only few trees are kept, so each file that
 * another one led to is read next: then nearly every file is parsed once.
 */
export function readFiles(request: ReadRequest, files: readonly string[]): void {
  const context = contextOf(request);
  const wanted = new Set(files);
  const pending = [...files].reverse();
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (!wanted.delete(file)) continue;
    const parsed = readFile(request, context, file);
    for (const each of parsed) if (wanted.has(each)) pending.push(each);
  }
}

/** Follows the ids that an action stages. Reports it if it stages on two shards for sure. */
export function lookAtAction(request: ReadRequest, schema: ProjectSchema, action: ActionSchema): Look {
  const context: ReadContext = { ...contextOf(request), diagnostics: [] };
  const { given, asked } = context.sources.asking(() => checkShards(context, schema, [action]));
  return lookOf({ ...context, diagnostics: [...given] }, asked);
}

function contextOf({ projectDirectory, paths, memory }: ReadRequest): ReadContext {
  memory.sources ??= new SourceFiles(projectDirectory, {
    onText: (file, text) => memory.noteText(file, text),
  });
  return { sources: memory.sources, paths, classes: new Map(), diagnostics: [] };
}

/** @returns files whose trees it asked for */
function readFile({ paths, memory }: ReadRequest, shared: ReadContext, file: string): Iterable<string> {
  const context: ReadContext = { ...shared, diagnostics: [] };
  const found = nothingFound();
  const isMigration = file.startsWith(`${paths.migrations}/`);
  const { asked } = context.sources.asking(() =>
    attempt(context.diagnostics, file, () =>
      isMigration ? add(found.migrations, readMigration(context, file)) : readClasses(context, file, found),
    ),
  );
  memory.remember(file, { ...lookOf(context, asked), found: withoutEmpty(found) });
  return asked.parsed;
}

function lookOf({ diagnostics, sources }: ReadContext, { files, parsed }: Asked): Look {
  const syntaxErrors = [...parsed].flatMap((file) => sources.errorsOf(file).map(syntaxDiagnostic));
  return { diagnostics, syntaxErrors, asked: files };
}

function syntaxDiagnostic({ message, location }: ParseError): Diagnostic {
  return diagnostic('FWGEN001', location, message, 'Correct the syntax.');
}

function readClasses(context: ReadContext, file: string, found: Found): void {
  const source = context.sources.matches(file, MARKERS) ? context.sources.load(file) : undefined;
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
  if (readDecorator(context, node, 'FwSaga') !== undefined) add(found.sagas, readSaga(context, node));
  else reportUnmarkedSaga(context, node);
  add(found.events, readEvent(context, node));
  add(found.repositories, readRepository(context, node));
}

function add<T>(list: T[], item: T | undefined): void {
  if (item !== undefined) list.push(item);
}

function withoutEmpty(found: Found): Partial<Found> {
  return Object.fromEntries(Object.entries(found).filter(([, list]) => list.length > 0));
}
