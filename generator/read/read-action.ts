import type { ActionSchema } from '../schema/project-schema.js';
import type { FieldSchema, TypeSchema } from '../schema/type-schema.js';
import { extendsFramework, readClassName, readHeritage } from './class-form.js';
import type { ts } from './compiler.js';
import { readCollaborators } from './read-collaborators.js';
import { type ReadContext, report } from './read-context.js';
import { decoratorArguments, readOptions } from './read-decorator.js';
import { readDoc } from './read-doc.js';
import { abbreviate, readLiteral } from './read-literal.js';
import { readRoute } from './read-route.js';
import { readType } from './read-type.js';
import { fileOf, locationOf } from './source-files.js';
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
    collaborators: readCollaborators(context, node, [
      { name: 'clock', location: locationOf(node), wiring: { kind: 'clock' } },
    ]),
    stagingCalls: countStagingCalls(node.getText()),
    ...(route === undefined ? {} : { route }),
  };
}

/** In the text: most actions stage once, and need not be looked at any further. */
function countStagingCalls(text: string): number {
  return ['.add(', '.update(', '.expect('].reduce((sum, call) => sum + text.split(call).length - 1, 0);
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
