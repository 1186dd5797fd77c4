import { defined } from '../schema/defined.js';
import type { ActionSchema } from '../schema/project-schema.js';
import type { DocTag, FieldSchema, TypeSchema } from '../schema/type-schema.js';
import { type ClassForm, placeOf, readClassName, reportWrongBase } from './class-form.js';
import type { ts } from './compiler.js';
import { readCollaborators } from './read-collaborators.js';
import { type ReadContext, report } from './read-context.js';
import { decoratorArguments, decoratorNamed, readOptions } from './read-decorator.js';
import { readDoc } from './read-doc.js';
import { readScheduled } from './read-durable.js';
import { abbreviate } from './read-literal.js';
import { readRoute } from './read-route.js';
import { readSchedule } from './read-schedule.js';
import { readUpcasters, readVersion } from './read-version.js';
import { resolveExpression } from './resolver.js';
import { locationOf } from './source-files.js';
import { withTags } from './types/fields.js';
import { leadsTo } from './types/lineage.js';
import { readArgument } from './types/read-type.js';
import type { ReadType } from './types/type-results.js';
import { reportRefusal } from './unresolved.js';

const OPTIONS = {
  name: {
    isFit: (value: unknown): value is string => typeof value === 'string' && value.trim() !== '',
    problem: 'is not a name',
    hint: 'Write a non-empty string.',
  },
};

/** Reads a class marked with `@FwAction`. @returns undefined, after a report, if the class has no usable form */
export function readAction(
  context: ReadContext,
  form: ClassForm,
  decorator: ts.Decorator,
): ActionSchema | undefined {
  const { node, lineage, decorators } = form;
  const className = readClassName(context, node);
  const [params] = lineage.arguments;
  const isAction = leadsTo(lineage, 'Action');
  const paramsType = isAction ? readArgument(context, lineage, 0) : undefined;
  const resultType = isAction ? readArgument(context, lineage, 1, 'result') : undefined;
  if (params === undefined || paramsType === undefined || resultType === undefined) {
    const hint = 'Write `extends Action<Params, Result>`, or extend a class of this project that extends it.';
    return reportWrongBase(context, form, 'FwAction', hint);
  }
  if (className === undefined) return undefined;
  const { classes } = lineage;
  const routeDecorator = decorators.get('HttpRoute');
  const route = routeDecorator === undefined ? undefined : readRoute(context, routeDecorator, resultType);
  const { description, tags } = readDoc(node);
  const schedules = readScheduled(context, classes);
  const fields = paramsOf(context, params, paramsType);
  const scheduleDecorator = decorators.get('FwSchedule');
  const schedule =
    scheduleDecorator === undefined
      ? undefined
      : readSchedule(context, scheduleDecorator, { className, params: fields });
  return defined({
    className,
    name: readOptions(context, decoratorArguments(decorator)[0], OPTIONS).values.name ?? className,
    description,
    ...placeOf(node),
    params: fields,
    result: resultType.type,
    resultOptional: resultType.optional,
    resultNullable: resultType.nullable,
    collaborators: readCollaborators(context, classes, [
      { name: 'clock', location: locationOf(node), wiring: { kind: 'clock' } },
    ]),
    version: readVersion(context, tags),
    upcasters: readUpcasters(node) || undefined,
    isCrossShard: tags.some((tag) => tag.name === 'crossShard') ? (true as const) : undefined,
    schedules: schedules.length > 0 ? schedules : undefined,
    route,
    schedule,
    rule: readRule(context, classes),
  });
}

/** Reads who may run the action. The nearest class with a rule decides, as at run time. */
function readRule(
  context: ReadContext,
  classes: readonly ts.ClassDeclaration[],
): 'everyone' | 'some' | undefined {
  for (const each of classes) {
    const allow = decoratorNamed(context, each, 'Allow');
    if (allow === undefined) continue;
    const [rule] = decoratorArguments(allow);
    const named = rule && resolveExpression(context, rule).resolved;
    return named?.kind === 'framework' && named.name === 'everyone' ? 'everyone' : 'some';
  }
  return undefined;
}

const REPEATED =
  'Declare what repeats as an interface of its own, which is the type of one of the params: `export interface Part { readonly parts?: readonly Part[] }`.';

function paramsOf(context: ReadContext, node: ts.Node, params: ReadType): readonly FieldSchema[] {
  const type: TypeSchema = params.type;
  if (type.kind === 'object' && !params.nullable && !params.optional)
    return withSecretFields(type.fields, params.tags);
  if (type.kind === 'void' || isEmptyRecord(type)) return [];
  if (type.kind === 'recursive') {
    const message = `The params type ${abbreviate(node.getText())} contains itself`;
    return report(context, 'FWGEN034', node, message, REPEATED) ?? [];
  }
  const subject = `The params type ${abbreviate(node.getText())}`;
  reportRefusal(context, {
    code: type.kind === 'unsupported' && type.recursive === true ? 'FWGEN034' : 'FWGEN003',
    node,
    subject,
    message: `${subject} must be an object type`,
    hint: 'Declare one readonly property per parameter (`export interface DepositParams { readonly amount: Decimal }`), or use `void` for an action without parameters.',
  });
  return [];
}

/** Marks the fields of params that are secret as a whole. */
function withSecretFields(
  fields: readonly FieldSchema[],
  tags: readonly DocTag[] = [],
): readonly FieldSchema[] {
  const secrets = tags.filter(({ name }) => name === 'secret');
  return secrets.length === 0
    ? fields
    : fields.map((field) => ({ ...field, tags: withTags(field.tags, secrets) }));
}

/** Whether a type is `Record<string, never>`, which some lint rules require for an object without members. */
function isEmptyRecord(type: TypeSchema): boolean {
  return type.kind === 'record' && type.of.kind === 'enum' && type.of.values.length === 0;
}
