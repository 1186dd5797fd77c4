import { ts } from './compiler.js';
import { bareExpression, staticMember } from './syntax.js';

/**
 * How many upcasters a class declares in its static `upcasters`; `uncounted` where that is no plain list, so that only
 * the start of the application can tell.
 */
export function readUpcasters(node: ts.ClassDeclaration): number | 'uncounted' {
  const member = staticMember(node, 'upcasters');
  if (member === undefined) return 0;
  const initializer = ts.isPropertyDeclaration(member) ? member.initializer : undefined;
  const value = initializer === undefined ? undefined : bareExpression(initializer);
  if (value === undefined || !ts.isArrayLiteralExpression(value)) return 'uncounted';
  return value.elements.some((each) => ts.isSpreadElement(each)) ? 'uncounted' : value.elements.length;
}
