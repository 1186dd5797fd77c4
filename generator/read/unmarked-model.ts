import type { ts } from './compiler.js';
import type { ReadContext } from './read-context.js';
import { hasDecorator } from './read-decorator.js';
import { fileOf } from './source-files.js';
import { isBase } from './syntax.js';
import { followLineage, leadsTo } from './types/lineage.js';

/**
 * Whether a class of the source folder is a model that lacks `@AutoBuilder`. FWGEN011 reports it once, at its
 * declaration, so references to it count as references to a model.
 */
export function isUnmarkedModel(context: ReadContext, node: ts.ClassDeclaration): boolean {
  const { source } = context.paths;
  if (hasDecorator(context, node, 'AutoBuilder') || isBase(node)) return false;
  const isSource = source === '' || fileOf(node).startsWith(`${source}/`);
  return isSource && leadsTo(followLineage(context, node), 'Model', 'Entity');
}
