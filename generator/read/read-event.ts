import { defined } from '../schema/defined.js';
import type { EventSchema } from '../schema/project-schema.js';
import type { FieldSchema } from '../schema/type-schema.js';
import { type ClassForm, placeOf, readClassName } from './class-form.js';
import { ts } from './compiler.js';
import { fieldForm } from './field-form.js';
import { type ReadContext, report } from './read-context.js';
import { decoratorArguments, readOptions } from './read-decorator.js';
import { readDoc } from './read-doc.js';
import { NAME, NAMES } from './read-literal.js';
import { readUpcasters, readVersion } from './read-version.js';
import { hasKeyword, instanceProperties, isBase, parameterProperties, scopeOf } from './syntax.js';
import { type Lineage, leadsTo } from './types/lineage.js';
import { resolveClass } from './types/model-classes.js';
import { readClassFields } from './types/read-type.js';
import { reportRefusal } from './unresolved.js';

/**
 * Reads a class that extends `ModelEvent`, directly or through classes of this project. @returns undefined for any
 * other class
 */
export function readEvent(
  context: ReadContext,
  { node, lineage, decorators }: ClassForm,
): EventSchema | undefined {
  const { heritage } = lineage;
  const marker = decorators.get('FwEvent');
  if (heritage === undefined || !leadsTo(lineage, 'ModelEvent') || isBase(node)) {
    if (marker !== undefined) reportNoEvent(context, node);
    return undefined;
  }
  const name = readClassName(context, node);
  const [argument] = lineage.arguments;
  const model = argument === undefined ? undefined : resolveClass(context, argument);
  if (model === undefined || !model.marked) {
    const subject = name ?? 'The event';
    return reportRefusal(context, {
      code: 'FWGEN012',
      node: argument ?? heritage.clause,
      subject,
      message: `${subject} extends ${heritage.clause.getText()}, which does not name a model`,
      hint: 'Write `extends ModelEvent<X>` where X is a class marked with @AutoBuilder.',
    });
  }
  if (name === undefined) return undefined;
  const { description, tags } = readDoc(node);
  const version = readVersion(context, tags);
  const [options] = marker === undefined ? [] : decoratorArguments(marker);
  const names = readOptions(context, options, { name: NAME, aliases: NAMES }).values;
  return defined({
    name,
    description,
    storedName: names.name,
    aliases: names.aliases,
    ...placeOf(node),
    model,
    fields: readPayload(context, node, lineage),
    version,
    upcasters: readUpcasters(node),
    isDeprecated: tags.some((tag) => tag.name === 'deprecated') ? (true as const) : undefined,
  });
}

function reportNoEvent(context: ReadContext, node: ts.ClassDeclaration): void {
  const message = `${node.name?.text ?? 'The class'} is marked with @FwEvent but is no class of events`;
  const hint =
    'Write `extends ModelEvent<X>`, where X is a model, or remove @FwEvent. An abstract class has no stored name.';
  report(context, 'FWGEN007', node.name ?? node, message, hint);
}

/** Returns public fields. Reports fields that the payload cannot store. */
function readPayload(
  context: ReadContext,
  node: ts.ClassDeclaration,
  { classes }: Lineage,
): readonly FieldSchema[] {
  for (const owner of classes)
    for (const property of [...instanceProperties(owner), ...parameterProperties(owner)])
      reportUnstored(context, property);
  return readClassFields(context, node, 'event');
}

function reportUnstored(
  context: ReadContext,
  property: ts.PropertyDeclaration | ts.ParameterPropertyDeclaration,
): void {
  const name = property.name.getText();
  const plain = fieldForm(property);
  if (scopeOf(property) !== 'public') {
    const other = ts.isParameter(property) ? name : `#${name}`;
    const hint = `Write \`${plain}\`, or \`${other}\` for a value outside the payload.`;
    report(context, 'FWGEN004', property, `The event field ${name} is ${scopeOf(property)}`, hint);
  }
  if (hasKeyword(property, ts.SyntaxKind.AccessorKeyword)) {
    const hint = `Write \`${plain}\`: an event is restored from its payload without calling its constructor.`;
    report(context, 'FWGEN004', property, `The event field ${name} is an accessor`, hint);
  }
}
