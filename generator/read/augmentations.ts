import { ts } from './compiler.js';
import type { ReadContext } from './read-context.js';

/**
 * Returns the interfaces that the compiler merges with a declaration: those of its name in its file, then those that
 * other files add in `declare module './file.js'`.
 */
export function interfacesOf(
  { checker }: ReadContext,
  node: ts.InterfaceDeclaration | ts.ClassDeclaration,
): readonly ts.InterfaceDeclaration[] {
  const own = node
    .getSourceFile()
    .statements.filter(ts.isInterfaceDeclaration)
    .filter(({ name }) => name.text === node.name?.text);
  return [...own, ...checker.addedTo(node)];
}
