import type { EventReference, HandlerOptions, HandlerSchema } from '../schema/project-schema.js';
import { type ClassForm, readClassName } from './class-form.js';
import { ts } from './compiler.js';
import { readCollaborators } from './read-collaborators.js';
import { type ReadContext, report } from './read-context.js';
import { decoratorArguments, readOption, readOptions, readStableNames } from './read-decorator.js';
import { isOfFramework, resolveClassDeclaration, resolveName } from './resolver.js';
import { fileOf, locationOf } from './source-files.js';
import { argumentOf, type Lineage } from './types/lineage.js';
import { reportRefusal } from './unresolved.js';

const OPTIONS =
  'name event aliases concurrency maximumAttempts retryDelayMs transactional projection startFrom'.split(' ');

/** Reads a class marked with `@FwEventHandler`. @returns undefined, after a report, if the class has no usable form */
export function readHandler(
  context: ReadContext,
  { node, lineage }: ClassForm,
  decorator: ts.Decorator,
): HandlerSchema | undefined {
  const className = readClassName(context, node);
  if (className === undefined) return undefined;
  const options = readOptions(context, decoratorArguments(decorator)[0], OPTIONS);
  const settings = readSettings(context, options);
  const events = readEvents(context, lineage, options.get('event'));
  if (events.length === 0) {
    const option = options.get('event');
    const refusal = {
      code: 'FWGEN046' as const,
      node: option ?? node.name ?? node,
      subject: className,
      message: `${className} does not name the events that it handles`,
      hint: 'Write `handle(envelope: EventEnvelope<SomethingHappened>)`, or name the event classes in @FwEventHandler({ event }).',
    };
    reportRefusal(context, refusal, option ?? handleMethod(node)?.parameters[0]?.type);
  }
  return {
    className,
    name: settings.name ?? className,
    file: fileOf(node),
    location: locationOf(node.name ?? node),
    events,
    options: settings.options,
    collaborators: readCollaborators(context, lineage.classes),
  };
}

interface Settings {
  readonly name?: string;
  readonly options: HandlerOptions;
}

function readSettings(context: ReadContext, nodes: ReadonlyMap<string, ts.Expression>): Settings {
  const take = <T>(name: string, isFit: (value: unknown) => value is T, expected: string): T | undefined =>
    readOption(context, nodes, name, isFit, expected);
  const { name, aliases } = readStableNames(context, nodes);
  const concurrency = take('concurrency', isCount, 'a whole number of at least 1');
  const maximumAttempts = take('maximumAttempts', isCount, 'a whole number of at least 1');
  const retryDelayMs = take('retryDelayMs', isCount, 'a whole number of milliseconds');
  const transactional = take('transactional', (value) => typeof value === 'boolean', 'true or false');
  const projection = take('projection', isTables, 'a list of tables, without their schemas');
  const owner = nodes.get('projection');
  if (projection !== undefined && transactional !== true && owner !== undefined) {
    const message = 'A handler with a projection must be transactional';
    report(context, 'FWGEN002', owner, message, 'Add transactional: true.');
  }
  const startFrom = take('startFrom', isStart, "'beginning' or 'now'");
  return {
    ...(name === undefined ? {} : { name }),
    options: { aliases, concurrency, maximumAttempts, retryDelayMs, transactional, projection, startFrom },
  };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
}

function isTables(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((each) => /^[^."]{1,63}$/.test(String(each)))
  );
}

function isStart(value: unknown): value is 'beginning' | 'now' {
  return value === 'beginning' || value === 'now';
}

/** Reads the events of the option, or else of the parameter type of `handle` in the first class that declares it. */
function readEvents(
  context: ReadContext,
  lineage: Lineage,
  option: ts.Expression | undefined,
): readonly EventReference[] {
  if (option !== undefined) {
    const named = ts.isArrayLiteralExpression(option) ? [...option.elements] : [option];
    return named.flatMap((each) => eventOf(context, each, each.getText()));
  }
  const type = lineage.classes
    .map((node) => handleMethod(node)?.parameters[0]?.type)
    .find((each) => each !== undefined);
  const envelope = type && argumentOf(lineage, type);
  if (envelope === undefined || !ts.isTypeReferenceNode(envelope)) return [];
  const [events] = envelope.typeArguments ?? [];
  return events !== undefined && isOfFramework(context, envelope.typeName, 'EventEnvelope')
    ? eventsOfType(context, lineage, events)
    : [];
}

function handleMethod(node: ts.ClassDeclaration): ts.MethodDeclaration | undefined {
  return node.members
    .filter((member) => ts.isMethodDeclaration(member))
    .find((member) => member.name.getText() === 'handle');
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
  const resolved = resolveName(context, node.getSourceFile(), node.typeName.getText());
  const alias = resolved.kind === 'declared' ? resolved.declaration : undefined;
  return alias !== undefined && ts.isTypeAliasDeclaration(alias) && followed < MOST_ALIASES
    ? eventsOfType(context, lineage, alias.type, followed + 1)
    : eventOf(context, node, node.typeName.getText());
}

function eventOf(context: ReadContext, node: ts.Node, name: string): readonly EventReference[] {
  const declaration = resolveClassDeclaration(context, node, name);
  if (declaration?.name === undefined) return [];
  return [{ name: declaration.name.text, file: fileOf(declaration), location: locationOf(node) }];
}
