import { ts } from './compiler.js';
import { bareExpression, staticMember } from './syntax.js';

/**
 * Counts the upcasters in the static `upcasters` of a class. @returns `uncounted` if that is not a plain list. The
 * application then counts at startup.
 */
export function readUpcasters(node: ts.ClassDeclaration): number | 'uncounted' {
  const member = staticMember(node, 'upcasters');
  if (member === undefined) return 0;
  const initializer = ts.isPropertyDeclaration(member) ? member.initializer : undefined;
  const value = initializer === undefined ? undefined : bareExpression(initializer);
  if (value === undefined || !ts.isArrayLiteralExpression(value)) return 'uncounted';
  return value.elements.some((each) => ts.isSpreadElement(each)) ? 'uncounted' : value.elements.length;
}
