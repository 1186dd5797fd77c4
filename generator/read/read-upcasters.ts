import { ts } from './compiler.js';
import { hasKeyword } from './syntax.js';

/**
 * How many upcasters a class declares in its static `upcasters`; `uncounted` where that is no plain list, so that only
 * the start of the application can tell.
 */
export function readUpcasters(node: ts.ClassDeclaration): number | 'uncounted' {
  const member = node.members.find(
    (each) => hasKeyword(each, ts.SyntaxKind.StaticKeyword) && each.name?.getText() === 'upcasters',
  );
  if (member === undefined) return 0;
  const value = ts.isPropertyDeclaration(member) ? plain(member.initializer) : undefined;
  if (value === undefined || !ts.isArrayLiteralExpression(value)) return 'uncounted';
  return value.elements.some((each) => ts.isSpreadElement(each)) ? 'uncounted' : value.elements.length;
}

/** Without `as const`, `satisfies` and parentheses. */
function plain(expression: ts.Expression | undefined): ts.Expression | undefined {
  if (expression === undefined) return undefined;
  const wrapped =
    ts.isAsExpression(expression) ||
    ts.isSatisfiesExpression(expression) ||
    ts.isParenthesizedExpression(expression);
  return wrapped ? plain(expression.expression) : expression;
}
