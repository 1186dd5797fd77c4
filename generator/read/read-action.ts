import { ts } from 'ts-morph';
import type { ActionSchema, CollaboratorSchema, SuppliedType, Wiring } from '../schema/project-schema.js';
import type { FieldSchema, TypeSchema } from '../schema/type-schema.js';
import { extendsFramework, hasPublicConstructor, readClassName, readHeritage } from './class-form.js';
import { type ReadContext, report } from './read-context.js';
import { decoratorArguments, readOptions } from './read-decorator.js';
import { readDoc } from './read-doc.js';
import { abbreviate, readLiteral } from './read-literal.js';
import { readRoute } from './read-route.js';
import { readType } from './read-type.js';
import { type Resolved, referenceTo, resolveName } from './resolver.js';
import { fileOf, locationOf } from './source-files.js';
import { constructorOf } from './syntax.js';
import type { ReadType } from './type-results.js';

/** Reads a class marked with `@FwAction`; undefined if it is too broken to say anything about. */
export function readAction(
  context: ReadContext,
  node: ts.ClassDeclaration,
  decorators: { readonly action: ts.Decorator; readonly route: ts.Decorator | undefined },
): ActionSchema | undefined {
  const className = readClassName(context, node);
  const heritage = readHeritage(context, node);
  const [params, result] = heritage?.clause.typeArguments ?? [];
  if (!extendsFramework(heritage, 'Action') || params === undefined || result === undefined) {
    report(
      context,
      'FWGEN007',
      heritage?.clause ?? node.name ?? node,
      `${className ?? 'The class'} is marked with @FwAction but extends ${heritage?.clause.getText() ?? 'nothing'}`,
      'Write `extends Action<Params, Result>`, directly and with both type arguments.',
    );
    return undefined;
  }
  if (className === undefined) return undefined;
  const { description } = readDoc(node);
  const resultType = readType(context, result);
  const route = decorators.route === undefined ? undefined : readRoute(context, decorators.route);
  return {
    className,
    name: readName(context, decorators.action) ?? className,
    file: fileOf(node),
    location: locationOf(node.name ?? node),
    ...(description === undefined ? {} : { description }),
    params: paramsOf(context, params, readType(context, params)),
    result: resultType.type,
    resultOptional: resultType.optional,
    resultNullable: resultType.nullable,
    collaborators: readCollaborators(context, node),
    ...(route === undefined ? {} : { route }),
  };
}

function readName(context: ReadContext, decorator: ts.Decorator): string | undefined {
  const node = readOptions(context, decoratorArguments(decorator)[0], ['name']).get('name');
  const name = node === undefined ? undefined : readLiteral(context, node);
  if (node === undefined || name === undefined) return undefined;
  if (typeof name === 'string' && name.trim() !== '') return name;
  report(context, 'FWGEN002', node, `${node.getText()} is no name`, 'Write a string that is not empty.');
  return undefined;
}

function paramsOf(context: ReadContext, node: ts.Node, params: ReadType): readonly FieldSchema[] {
  const type: TypeSchema = params.type;
  if (type.kind === 'object' && !params.nullable && !params.optional) return type.fields;
  if (type.kind === 'void') return [];
  const problem = type.kind === 'unsupported' ? type : undefined;
  report(
    context,
    problem?.recursive ? 'FWGEN034' : 'FWGEN003',
    node,
    `The params type ${abbreviate(node.getText())} is no interface of fields`,
    'Declare an interface (or object type) with one readonly property per parameter, or void for none.',
  );
  return [];
}

function readCollaborators(context: ReadContext, node: ts.ClassDeclaration): readonly CollaboratorSchema[] {
  if (!hasPublicConstructor(node)) {
    report(
      context,
      'FWGEN029',
      constructorOf(node) ?? node,
      `The constructor of ${node.name?.text ?? 'the action'} is not public`,
      'Make it public: generated code makes one instance per attempt.',
    );
    return [];
  }
  const declared = constructorOf(node);
  // Without a constructor the base class's own is used, which takes the clock.
  if (declared === undefined)
    return [{ name: 'clock', location: locationOf(node), wiring: { kind: 'clock' } }];
  return declared.parameters
    .map((parameter, index) => readCollaborator(context, parameter, index))
    .filter((collaborator) => collaborator !== undefined);
}

function readCollaborator(
  context: ReadContext,
  parameter: ts.ParameterDeclaration,
  index: number,
): CollaboratorSchema | undefined {
  const { type, name } = parameter;
  if (type === undefined || !ts.isIdentifier(name) || parameter.dotDotDotToken !== undefined) {
    reportUnknown(
      context,
      parameter,
      `The constructor parameter ${abbreviate(parameter.getText())} has no plain name and type`,
    );
    return undefined;
  }
  const optional = parameter.questionToken !== undefined || parameter.initializer !== undefined;
  const wiring = readWiring(context, type, { index, optional });
  if (wiring === undefined) {
    reportUnknown(
      context,
      type,
      `${abbreviate(type.getText())} is neither imported nor exported by this file`,
    );
    return undefined;
  }
  return { name: name.text, location: locationOf(parameter), wiring };
}

function readWiring(
  context: ReadContext,
  type: ts.Node,
  parameter: { readonly index: number; readonly optional: boolean },
): Wiring | undefined {
  const { index, optional } = parameter;
  if (ts.isTypeReferenceNode(type) && type.typeArguments === undefined) {
    const resolved = resolveName(context, type.getSourceFile(), type.typeName.getText());
    return (
      knownWiring(context, resolved) ?? suppliedWiring(resolved, optional, { text: type.getText(), index })
    );
  }
  if (/^(string|number|boolean|bigint)$/.test(type.getText())) {
    return { kind: 'supplied', type: { kind: 'keyword', text: type.getText() }, optional };
  }
  return { kind: 'supplied', type: { kind: 'parameter', text: type.getText(), index }, optional };
}

function knownWiring(context: ReadContext, resolved: Resolved): Wiring | undefined {
  if (resolved.kind === 'framework' && resolved.name === 'Clock') return { kind: 'clock' };
  if (resolved.kind === 'framework' && resolved.name === 'EventHistory') return { kind: 'event-history' };
  if (resolved.kind === 'generated' && resolved.name.endsWith('Repository')) {
    return { kind: 'default-repository', name: resolved.name, file: resolved.file };
  }
  if (resolved.kind !== 'declared' || !ts.isClassDeclaration(resolved.declaration)) return undefined;
  if (!extendsFramework(readHeritage(context, resolved.declaration), 'Repository')) return undefined;
  return {
    kind: 'repository',
    name: resolved.declaration.name?.text ?? '',
    file: fileOf(resolved.declaration),
  };
}

function suppliedWiring(
  resolved: Resolved,
  optional: boolean,
  parameter: { readonly text: string; readonly index: number },
): Wiring | undefined {
  if (resolved.kind === 'missing') return undefined;
  const reference = referenceTo(resolved);
  // A global type of the language (URL, Map) has no import; anything else unknown is a mistake in the source.
  const isGlobal = resolved.kind === 'global' && resolved.name in globalThis;
  if (reference === undefined && !isGlobal) return undefined;
  const type: SuppliedType =
    reference === undefined ? { kind: 'parameter', ...parameter } : { kind: 'named', reference };
  return { kind: 'supplied', type, optional };
}

function reportUnknown(context: ReadContext, node: ts.Node, message: string): void {
  report(
    context,
    'FWGEN029',
    node,
    message,
    'Use Clock, EventHistory, a repository, or a type that is imported or exported: generated code must name it.',
  );
}
