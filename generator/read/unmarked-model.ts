import { ts } from './compiler.js';
import { extendsFramework, readHeritage } from './heritage.js';
import type { ReadContext } from './read-context.js';
import { hasDecorator } from './read-decorator.js';
import { fileOf } from './source-files.js';
import { hasKeyword } from './syntax.js';

/**
 * Whether a class of the source folder is a model that lacks `@AutoBuilder`. FWGEN011 reports it once, at its
 * declaration, so references to it count as references to a model.
 */
export function isUnmarkedModel(context: ReadContext, node: ts.ClassDeclaration): boolean {
  const { source } = context.paths;
  const file = fileOf(node);
  if (hasDecorator(context, node, 'AutoBuilder') || hasKeyword(node, ts.SyntaxKind.AbstractKeyword))
    return false;
  return (source === '' || file.startsWith(`${source}/`)) && extendsModel(context, node);
}

function extendsModel(context: ReadContext, node: ts.ClassDeclaration): boolean {
  const seen = new Set<ts.ClassDeclaration>();
  for (let each: ts.ClassDeclaration | undefined = node; each !== undefined && !seen.has(each); ) {
    seen.add(each);
    const heritage = readHeritage(context, each);
    if (extendsFramework(heritage, 'Model', 'Entity')) return true;
    const base = heritage?.resolved.kind === 'declared' ? heritage.resolved.declaration : undefined;
    each = base !== undefined && ts.isClassDeclaration(base) ? base : undefined;
  }
  return false;
}
