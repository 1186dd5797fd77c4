import type { ProjectSchema } from '../schema/project-schema.js';
import { type ClassForm, readClassForm } from './class-form.js';
import { ts } from './compiler.js';
import { reportMisplaced } from './misplaced-declarations.js';
import { reportOverlooked } from './overlooked-classes.js';
import { readAction } from './read-action.js';
import { type ReadContext, report } from './read-context.js';
import { readEvent } from './read-event.js';
import { readHandler } from './read-handler.js';
import { readModel } from './read-model.js';
import { readRepository } from './read-repository.js';
import { readSaga } from './read-saga.js';
import { isBase } from './syntax.js';
import { leadsTo } from './types/lineage.js';

/**
 * Selects files with a decorator, a derived class or a handler of events. Other files are parsed when a type refers to
 * them. The pattern omits the names of the markers, because a file may import them under other names.
 */
const MARKERS =
  /(?:^|[=(;}]|\{\s|\b(?:export|default|abstract|return))\s*@[\p{ID_Start}_$]|\bclass\b[^{}]*\bextends\b|\bEvent(?:Handler|Envelope)\b/mu;

/** The declarations of a project, as far as they are read. */
export type Found = { readonly [Kind in keyof ProjectSchema]: ProjectSchema[Kind][number][] };

/** Reads the classes of a file. */
export function readClasses(context: ReadContext, file: string, found: Found): void {
  // Nothing is generated for the classes of a type declaration file.
  if (/\.d\.[cm]?ts$/.test(file) || !MARKERS.test(context.sources.text(file) ?? '')) return;
  const source = context.sources.load(file);
  if (source === undefined) return;
  for (const statement of source.statements) {
    if (ts.isClassDeclaration(statement)) readClass(context, readClassForm(context, statement), found);
  }
  reportMisplaced(context, source);
}

function readClass(context: ReadContext, form: ClassForm, found: Found): void {
  const { decorators } = form;
  const builder = decorators.get('AutoBuilder');
  const model = builder === undefined ? undefined : readModel(context, form, builder);
  add(found.models, model);
  const isModel = builder !== undefined || (!isBase(form.node) && leadsTo(form.lineage, 'Model', 'Entity'));
  if (isModel && model === undefined) add(found.refusedModels, form.node.name?.text);
  const action = decorators.get('FwAction');
  if (action === undefined) reportDecoratorsAlone(context, form);
  else add(found.actions, readAction(context, form, action));
  const handler = decorators.get('FwEventHandler');
  if (handler !== undefined) add(found.handlers, readHandler(context, form, handler));
  if (decorators.has('FwSaga')) add(found.sagas, readSaga(context, form));
  add(found.events, readEvent(context, form));
  add(found.repositories, readRepository(context, form));
  reportOverlooked(context, form);
}

function reportDecoratorsAlone(context: ReadContext, { node, decorators }: ClassForm): void {
  const route = decorators.get('HttpRoute');
  const schedule = decorators.get('FwSchedule');
  const name = node.name?.text ?? 'The class';
  const hint = 'Add @FwAction to the class.';
  if (route !== undefined)
    report(context, 'FWGEN033', route, `${name} has @HttpRoute but not @FwAction`, hint);
  if (schedule !== undefined)
    report(context, 'FWGEN070', schedule, `${name} has @FwSchedule but not @FwAction`, hint);
}

function add<T>(list: T[], item: T | undefined): void {
  if (item !== undefined) list.push(item);
}
