import type { EventSchema } from '../schema/project-schema.js';
import type { FieldSchema } from '../schema/type-schema.js';
import {
  type ClassForm,
  extendsFramework,
  type Heritage,
  readClassName,
  readHeritage,
} from './class-form.js';
import { ts } from './compiler.js';
import { type Draft, type ReadContext, report } from './read-context.js';
import { readDoc } from './read-doc.js';
import { readClassFields, resolveClass } from './read-type.js';
import { readUpcasters } from './read-upcasters.js';
import { readVersion } from './read-version.js';
import type { Declaration } from './resolver.js';
import { fileOf, locationOf } from './source-files.js';
import { instanceProperties, scopeOf } from './syntax.js';

/** Reads a class that extends `ModelEvent`; undefined for any other class. */
export function readEvent(context: ReadContext, { node, heritage }: ClassForm): EventSchema | undefined {
  if (!extendsFramework(heritage, 'ModelEvent')) {
    const isDeclared = heritage?.resolved.kind === 'declared';
    if (isDeclared && descendsFromEvent(context, node)) reportIndirect(context, node, heritage);
    return undefined;
  }
  const name = readClassName(context, node);
  const [argument] = heritage.clause.typeArguments ?? [];
  const model = argument === undefined ? undefined : resolveClass(context, argument);
  if (model === undefined || !model.marked) {
    report(
      context,
      'FWGEN012',
      argument ?? heritage.clause,
      `${name ?? 'The event'} extends ${heritage.clause.getText()}, which names no model`,
      'Write `extends ModelEvent<X>` where X is a class marked with @AutoBuilder.',
    );
    return undefined;
  }
  if (name === undefined) return undefined;
  const { description, tags } = readDoc(node);
  const version = readVersion(context, tags);
  const event: Draft<EventSchema> = {
    name,
    file: fileOf(node),
    location: locationOf(node.name ?? node),
    model,
    fields: readPayload(context, node),
    upcasters: readUpcasters(node),
  };
  if (description !== undefined) event.description = description;
  if (version !== undefined) event.version = version;
  return event;
}

/** True if a base class in this project, near or far, extends `ModelEvent`. */
function descendsFromEvent(context: ReadContext, node: ts.ClassDeclaration): boolean {
  const seen = new Set<string>();
  for (let next: ts.ClassDeclaration | undefined = node; next !== undefined; ) {
    const key = `${fileOf(next)}#${next.pos}`;
    if (seen.has(key)) return false;
    seen.add(key);
    const heritage = readHeritage(context, next);
    if (extendsFramework(heritage, 'ModelEvent')) return true;
    const base: Declaration | undefined =
      heritage?.resolved.kind === 'declared' ? heritage.resolved.declaration : undefined;
    next = base !== undefined && ts.isClassDeclaration(base) ? base : undefined;
  }
  return false;
}

function reportIndirect(context: ReadContext, node: ts.ClassDeclaration, { clause }: Heritage): void {
  report(
    context,
    'FWGEN007',
    clause,
    `The event ${node.name?.text ?? 'without a name'} extends ${clause.getText()}`,
    'Write `extends ModelEvent<X>`, directly: the fields of an event stand in its own class.',
  );
}

/** Public fields. One that is hidden would be missing from the payload without anybody noticing. */
function readPayload(context: ReadContext, node: ts.ClassDeclaration): readonly FieldSchema[] {
  const hidden = instanceProperties(node).filter((each) => scopeOf(each) !== 'public');
  for (const property of hidden) {
    report(
      context,
      'FWGEN004',
      property,
      `The event field ${property.name.getText()} is ${scopeOf(property)}`,
      'Make it public and readonly, or a `#private` one that is no part of the payload.',
    );
  }
  return readClassFields(context, node);
}
