import type { CollaboratorSchema, Wiring } from '../schema/project-schema.js';
import { ts } from './compiler.js';
import { exportedNames, namesIn } from './module-names.js';
import { type ReadContext, report } from './read-context.js';
import { abbreviate } from './read-literal.js';
import { classOf, type Resolved, referenceTo, resolveName } from './resolver.js';
import { fileOf, locationOf } from './source-files.js';
import { constructorOf, constructorsOf, scopeOf } from './syntax.js';
import { followLineage, leadsTo } from './types/lineage.js';
import { reportRefusal } from './unresolved.js';

/**
 * Reads the constructor parameters of an action or handler, each with the source of its argument. The first class with
 * a constructor decides.
 *
 * @param classes the class itself, then its base classes in this project
 * @param inherited the parameters if no class has a constructor: the clock for actions. Default: none
 */
export function readCollaborators(
  context: ReadContext,
  classes: readonly ts.ClassDeclaration[],
  inherited: readonly CollaboratorSchema[] = [],
): readonly CollaboratorSchema[] {
  const node = classes.find((each) => constructorOf(each) !== undefined);
  if (node === undefined) return inherited;
  if (!constructorsOf(node).every((each) => scopeOf(each) === 'public')) {
    const message = `The constructor of ${node.name?.text ?? 'the class'} is not public`;
    const hint = 'Make it public: generated code creates an instance for each attempt.';
    report(context, 'FWGEN029', constructorOf(node) ?? node, message, hint);
    return [];
  }
  return (callableConstructor(node)?.parameters ?? [])
    .map((parameter, index) => readCollaborator(context, parameter, index))
    .filter((collaborator) => collaborator !== undefined);
}

/**
 * Returns the overload with the most parameters, because callers see only overloads if there are any. Without
 * overloads, returns the constructor.
 */
function callableConstructor(node: ts.ClassDeclaration): ts.ConstructorDeclaration | undefined {
  const overloads = constructorsOf(node).filter(({ body }) => body === undefined);
  const most = Math.max(0, ...overloads.map(({ parameters }) => parameters.length));
  return overloads.find(({ parameters }) => parameters.length === most) ?? constructorOf(node);
}

function readCollaborator(
  context: ReadContext,
  parameter: ts.ParameterDeclaration,
  index: number,
): CollaboratorSchema | undefined {
  const { type, name } = parameter;
  if (type === undefined || !ts.isIdentifier(name) || parameter.dotDotDotToken !== undefined) {
    const message = `The constructor parameter ${abbreviate(parameter.getText())} needs a name and a type`;
    return reportUnknown(context, parameter, message);
  }
  const optional = parameter.questionToken !== undefined || parameter.initializer !== undefined;
  const wiring = readWiring(context, type, { index, optional });
  if (wiring !== undefined) return { name: name.text, location: locationOf(parameter), wiring };
  const message = `This file neither imports nor exports ${abbreviate(type.getText())}`;
  return reportUnknown(context, type, message, `The constructor parameter ${name.text}`);
}

function readWiring(
  context: ReadContext,
  type: ts.Node,
  parameter: { readonly index: number; readonly optional: boolean },
): Wiring | undefined {
  const { index, optional } = parameter;
  if (ts.isTypeReferenceNode(type) && type.typeArguments === undefined) {
    const resolved = resolveName(context, type.typeName);
    const known = knownWiring(context, resolved) ?? suppliedWiring(resolved, optional);
    if (known !== undefined || resolved.kind === 'missing' || !isVisible(type.typeName)) return known;
  }
  if (/^(string|number|boolean|bigint)$/.test(type.getText())) {
    return { kind: 'supplied', type: { kind: 'keyword', text: type.getText() }, optional };
  }
  return { kind: 'supplied', type: { kind: 'parameter', text: type.getText(), index }, optional };
}

/** What the runtime supplies, by the names of the types. */
const OF_FRAMEWORK: ReadonlyMap<string, Wiring> = new Map([
  ['Clock', { kind: 'clock' }],
  ['EventHistory', { kind: 'event-history' }],
  ['Placement', { kind: 'placement' }],
]);

function knownWiring(context: ReadContext, resolved: Resolved): Wiring | undefined {
  if (resolved.kind === 'framework') return OF_FRAMEWORK.get(resolved.name);
  if (resolved.kind === 'generated' && resolved.name.endsWith('Repository')) {
    return { kind: 'default-repository', name: resolved.name, file: resolved.file };
  }
  const declared = classOf(resolved);
  if (declared === undefined || !leadsTo(followLineage(context, declared), 'Repository')) return undefined;
  return { kind: 'repository', name: declared.name?.text ?? '', file: fileOf(declared) };
}

/** @returns undefined for a type that no import can name */
function suppliedWiring(resolved: Resolved, optional: boolean): Wiring | undefined {
  const reference = referenceTo(resolved);
  return reference && { kind: 'supplied', type: { kind: 'named', reference }, optional };
}

/**
 * Whether code outside of a file can know a type by a constructor of the file: a default import, a member of a namespace
 * or a type of the language. Any other unknown type is a mistake in the source.
 */
function isVisible(name: ts.EntityName): boolean {
  if (!ts.isIdentifier(name)) return isVisible(name.left);
  const source = name.getSourceFile();
  const isImported = namesIn(source).imports.has(name.text);
  return isImported || exportedNames(source, name.text).length > 0 || name.text in globalThis;
}

function reportUnknown(
  context: ReadContext,
  node: ts.Node,
  message: string,
  subject = 'The constructor parameter',
): undefined {
  const hint =
    'Use Clock, EventHistory, Placement, a repository, or a type that this file imports or exports: generated code refers to it.';
  return reportRefusal(context, { code: 'FWGEN029', node, subject, message, hint });
}
