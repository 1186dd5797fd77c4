import { ts } from './compiler.js';
import { moduleIndex } from './module-index.js';
import type { ReadContext } from './read-context.js';

/**
 * Returns the interfaces that the compiler merges with a declaration: those of its name in its file, then those that
 * other files add in `declare module './file.js'`.
 */
export function interfacesOf(
  { checker }: ReadContext,
  node: ts.InterfaceDeclaration | ts.ClassDeclaration,
): readonly ts.InterfaceDeclaration[] {
  const own = moduleIndex(node.getSourceFile()).interfaces.get(node.name?.text ?? '');
  return [...(own ?? (ts.isInterfaceDeclaration(node) ? [node] : [])), ...checker.addedTo(node)];
}
