import { type ClassDeclaration, Node } from 'ts-morph';
import type { EventSchema } from '../schema/project-schema.js';
import type { DocTag, FieldSchema } from '../schema/type-schema.js';
import { extendsFramework, type Heritage, readClassName, readHeritage } from './class-form.js';
import { type ReadContext, report } from './read-context.js';
import { readDoc } from './read-doc.js';
import { readClassFields, resolveClass } from './read-type.js';
import type { Declaration } from './resolver.js';
import { fileOf, locationOf } from './source-files.js';

/** Reads a class that extends `ModelEvent`; undefined for any other class. */
export function readEvent(context: ReadContext, node: ClassDeclaration): EventSchema | undefined {
  const heritage = readHeritage(context, node);
  if (!extendsFramework(heritage, 'ModelEvent')) {
    if (heritage !== undefined && descendsFromEvent(context, node)) reportIndirect(context, node, heritage);
    return undefined;
  }
  const name = readClassName(context, node);
  const [argument] = heritage.clause.getTypeArguments();
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
  const version = readVersion(context, node, tags);
  return {
    name,
    file: fileOf(node),
    location: locationOf(node.getNameNode() ?? node),
    ...(description === undefined ? {} : { description }),
    model,
    fields: readPayload(context, node),
    ...(version === undefined ? {} : { version }),
  };
}

/** True if a base class in this project, near or far, extends `ModelEvent`. */
function descendsFromEvent(context: ReadContext, node: ClassDeclaration): boolean {
  const seen = new Set<ClassDeclaration>();
  for (let next: ClassDeclaration | undefined = node; next !== undefined && !seen.has(next); ) {
    seen.add(next);
    const heritage = readHeritage(context, next);
    if (extendsFramework(heritage, 'ModelEvent')) return true;
    const base: Declaration | undefined =
      heritage?.resolved.kind === 'declared' ? heritage.resolved.declaration : undefined;
    next = Node.isClassDeclaration(base) ? base : undefined;
  }
  return false;
}

function reportIndirect(context: ReadContext, node: ClassDeclaration, { clause }: Heritage): void {
  report(
    context,
    'FWGEN007',
    clause,
    `The event ${node.getName() ?? 'without a name'} extends ${clause.getText()}`,
    'Write `extends ModelEvent<X>`, directly: the fields of an event stand in its own class.',
  );
}

/** Public fields. One that is hidden would be missing from the payload without anybody noticing. */
function readPayload(context: ReadContext, node: ClassDeclaration): readonly FieldSchema[] {
  const hidden = node
    .getInstanceProperties()
    .filter((each) => Node.isPropertyDeclaration(each))
    .filter((each) => each.getScope() !== 'public' && !Node.isPrivateIdentifier(each.getNameNode()));
  for (const property of hidden) {
    report(
      context,
      'FWGEN004',
      property,
      `The event field ${property.getName()} is ${property.getScope()}`,
      'Make it public and readonly, or a `#private` one that is no part of the payload.',
    );
  }
  return readClassFields(context, node);
}

function readVersion(
  context: ReadContext,
  node: ClassDeclaration,
  tags: readonly DocTag[],
): number | undefined {
  const tag = tags.find((each) => each.name === 'version');
  if (tag === undefined) return undefined;
  if (/^[1-9]\d{0,5}$/.test(tag.text)) return Number(tag.text);
  report(
    context,
    'FWGEN032',
    node.getJsDocs()[0] ?? node,
    `@version ${tag.text} is no version of a payload's shape`,
    'Write a whole number of at least 1.',
  );
  return undefined;
}
