import { diagnostic } from '../diagnostics.js';
import type { DocTag } from '../schema/type-schema.js';
import type { ReadContext } from './read-context.js';

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
