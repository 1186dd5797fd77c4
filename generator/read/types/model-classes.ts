import { defined } from '../../schema/defined.js';
import type { ModelReference } from '../../schema/type-schema.js';
import { ts } from '../compiler.js';
import type { ReadContext } from '../read-context.js';
import { decoratorArguments, decoratorNamed, readOptions } from '../read-decorator.js';
import { TEXT } from '../read-literal.js';
import { classOf, resolveName } from '../resolver.js';
import { fileOf } from '../source-files.js';
import { isBase } from '../syntax.js';
import { followLineage, leadsTo } from './lineage.js';

/** Returns the class that a type argument names; undefined if this project does not declare it. */
export function resolveClass(context: ReadContext, node: ts.TypeNode): ModelReference | undefined {
  if (!ts.isTypeReferenceNode(node)) return undefined;
  const declaration = classOf(resolveName(context, node.typeName));
  return declaration === undefined ? undefined : referenceToClass(context, declaration);
}

/** Returns how other declarations refer to a model class. */
export function referenceToClass(context: ReadContext, node: ts.ClassDeclaration): ModelReference {
  const builder = decoratorNamed(context, node, 'AutoBuilder');
  const marked = builder !== undefined || isUnmarkedModel(context, node);
  // The file that declares the class reports a name that is not valid.
  const silent = { ...context, diagnostics: [] };
  const [options] = builder === undefined ? [] : decoratorArguments(builder);
  const storedName = readOptions(silent, options, { name: TEXT }).values.name;
  return defined({ name: node.name?.text ?? '', storedName, file: fileOf(node), marked });
}

/**
 * Whether a class without `@AutoBuilder` is a model of the source folder that lacks it. FWGEN011 reports it once, at its
 * declaration, so references to it count as references to a model.
 */
function isUnmarkedModel(context: ReadContext, node: ts.ClassDeclaration): boolean {
  const { source } = context.paths;
  if (isBase(node)) return false;
  const isSource = source === '' || fileOf(node).startsWith(`${source}/`);
  return isSource && leadsTo(followLineage(context, node), 'Model', 'Entity');
}
