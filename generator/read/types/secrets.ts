import type { DocTag } from '../../schema/type-schema.js';
import { ts } from '../compiler.js';
import type { ReadContext } from '../read-context.js';
import { readDoc } from '../read-doc.js';
import { resolveName } from '../resolver.js';
import { nameText } from '../syntax.js';

/**
 * Returns `@secret` of the aliases that a type is made of: `Record<string, Pin>`. For the checker, an alias of a text
 * is the text, so it does not know where the alias went: then all of the type is secret.
 */
export function secretsOf(
  context: ReadContext,
  node: ts.Node,
  visited: Set<ts.Node> = new Set(),
): readonly DocTag[] {
  // The checker knows which members there are, and each has its own tags.
  if (visited.has(node) || ts.isTypeLiteralNode(node)) return [];
  visited.add(node);
  const found: DocTag[] = [];
  const resolved = ts.isTypeReferenceNode(node)
    ? resolveName(context, node.getSourceFile(), nameText(node.typeName))
    : undefined;
  if (resolved?.kind === 'declared' && ts.isTypeAliasDeclaration(resolved.declaration)) {
    found.push(...readDoc(resolved.declaration).tags.filter(({ name }) => name === 'secret'));
    found.push(...secretsOf(context, resolved.declaration.type, visited));
  }
  ts.forEachChild(node, (child) => {
    found.push(...secretsOf(context, child, visited));
  });
  return found.map((tag) => ({ ...tag, ofType: true }));
}
