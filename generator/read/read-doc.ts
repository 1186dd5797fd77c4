import type { DocTag } from '../schema/type-schema.js';
import { ts } from './compiler.js';
import { locationOf } from './source-files.js';

/** A documentation comment: its text and its tags. */
export interface Doc {
  readonly description?: string;
  readonly tags: readonly DocTag[];
}

/** The comment that stands directly before a declaration. */
export function readDoc(node: ts.Node): Doc {
  const doc = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc).at(-1);
  if (doc === undefined) return { tags: [] };
  const description = ts.getTextOfJSDocComment(doc.comment)?.trim() ?? '';
  return {
    ...(description === '' ? {} : { description }),
    tags: (doc.tags ?? []).map((tag) => ({
      name: tag.tagName.text,
      text: (ts.getTextOfJSDocComment(tag.comment) ?? '').trim(),
      location: locationOf(tag),
    })),
  };
}
