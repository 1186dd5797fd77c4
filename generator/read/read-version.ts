import { diagnostic } from '../diagnostics.js';
import type { DocTag } from '../schema/type-schema.js';
import { ts } from './compiler.js';
import type { ReadContext } from './read-context.js';
import { bareExpression, staticMember } from './syntax.js';

/** Reads `@version` of a class's comment: the version of an event's payload, or of an action's params. */
export function readVersion(context: ReadContext, tags: readonly DocTag[]): number | undefined {
  const tag = tags.find((each) => each.name === 'version');
  if (tag === undefined) return undefined;
  if (/^[1-9]\d{0,5}$/.test(tag.text)) return Number(tag.text);
  const message = `'@version ${tag.text}' is not a version number`;
  context.diagnostics.push(
    diagnostic('FWGEN032', tag.location, message, 'Write a whole number of at least 1: `@version 2`.'),
  );
  return undefined;
}

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
