import type { EventReference, HandlerSchema } from '../schema/project-schema.js';
import { type ClassForm, placeOf, readClassName } from './class-form.js';
import { ts } from './compiler.js';
import { readCollaborators } from './read-collaborators.js';
import { type ReadContext, report } from './read-context.js';
import { decoratorArguments, readOptions } from './read-decorator.js';
import { FLAG, isWhole, NAME, NAMES, oneOf } from './read-literal.js';
import { classOf, isOfFramework, resolveName } from './resolver.js';
import { fileOf, locationOf } from './source-files.js';
import { methodNamed } from './syntax.js';
import { argumentOf, type Lineage } from './types/lineage.js';
import { reportRefusal } from './unresolved.js';

const COUNT = { isFit: isCount, hint: 'Write a whole number of at least 1.' };

const OPTIONS = {
  name: NAME,
  // Classes, which are no literals.
  event: undefined,
  aliases: NAMES,
  concurrency: COUNT,
  maximumAttempts: COUNT,
  retryDelayMs: { isFit: isCount, hint: 'Write a whole number of milliseconds.' },
  transactional: FLAG,
  projection: { isFit: isTables, hint: 'Write a list of tables, without their schemas.' },
  startFrom: oneOf('beginning', 'now'),
};

/** Reads a class marked with `@FwEventHandler`. @returns undefined, after a report, if the class has no usable form */
export function readHandler(
  context: ReadContext,
  { node, lineage }: ClassForm,
  decorator: ts.Decorator,
): HandlerSchema | undefined {
  const className = readClassName(context, node);
  if (className === undefined) return undefined;
  const { values, nodes } = readOptions(context, decoratorArguments(decorator)[0], OPTIONS);
  const { name = className, ...options } = values;
  const owner = nodes.get('projection');
  if (options.projection !== undefined && options.transactional !== true && owner !== undefined) {
    const message = 'A handler with a projection must be transactional';
    report(context, 'FWGEN002', owner, message, 'Add transactional: true.');
  }
  const option = nodes.get('event');
  const events = readEvents(context, lineage, option);
  if (events.length === 0) {
    const refusal = {
      code: 'FWGEN046' as const,
      node: option ?? node.name ?? node,
      subject: className,
      message: `${className} does not name the events that it handles`,
      hint: 'Write `handle(envelope: EventEnvelope<SomethingHappened>)`, or name the event classes in @FwEventHandler({ event }).',
    };
    reportRefusal(context, refusal, option ?? methodNamed(node, 'handle')?.parameters[0]?.type);
  }
  return {
    className,
    name,
    ...placeOf(node),
    events,
    options,
    collaborators: readCollaborators(context, lineage.classes),
  };
}

function isCount(value: unknown): value is number {
  return isWhole(value, 1, Number.MAX_SAFE_INTEGER);
}

function isTables(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((each) => /^[^."]{1,63}$/.test(String(each)))
  );
}

/** Reads the events of the option, or else of the parameter type of `handle` in the first class that declares it. */
function readEvents(
  context: ReadContext,
  lineage: Lineage,
  option: ts.Expression | undefined,
): readonly EventReference[] {
  if (option !== undefined) {
    const named = ts.isArrayLiteralExpression(option) ? [...option.elements] : [option];
    return named.flatMap((each) => eventOf(context, each));
  }
  const type = lineage.classes
    .map((node) => methodNamed(node, 'handle')?.parameters[0]?.type)
    .find((each) => each !== undefined);
  const envelope = type && argumentOf(lineage, type);
  if (envelope === undefined || !ts.isTypeReferenceNode(envelope)) return [];
  const [events] = envelope.typeArguments ?? [];
  return events !== undefined && isOfFramework(context, envelope.typeName, 'EventEnvelope')
    ? eventsOfType(context, lineage, events)
    : [];
}

/** Maximum length of a chain of aliases; a longer chain is a cycle. */
const MOST_ALIASES = 8;

/** Returns a class, or the classes of a union or of its alias. */
function eventsOfType(
  context: ReadContext,
  lineage: Lineage,
  given: ts.TypeNode,
  followed = 0,
): readonly EventReference[] {
  const node = argumentOf(lineage, given);
  if (ts.isUnionTypeNode(node))
    return node.types.flatMap((each) => eventsOfType(context, lineage, each, followed));
  if (!ts.isTypeReferenceNode(node)) return [];
  const resolved = resolveName(context, node.typeName);
  const alias = resolved.kind === 'declared' ? resolved.declaration : undefined;
  return alias !== undefined && ts.isTypeAliasDeclaration(alias) && followed < MOST_ALIASES
    ? eventsOfType(context, lineage, alias.type, followed + 1)
    : eventOf(context, node.typeName);
}

function eventOf(context: ReadContext, node: ts.Node): readonly EventReference[] {
  const declaration = classOf(resolveName(context, node));
  if (declaration?.name === undefined) return [];
  return [{ name: declaration.name.text, file: fileOf(declaration), location: locationOf(node) }];
}
