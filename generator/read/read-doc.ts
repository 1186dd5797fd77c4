import type { JSDocableNode } from 'ts-morph';
import type { DocTag } from '../schema/type-schema.js';
import { locationOf } from './source-files.js';

/** A documentation comment: its text and its tags. */
export interface Doc {
  readonly description?: string;
  readonly tags: readonly DocTag[];
}

/** The comment that stands directly before a declaration. */
export function readDoc(node: JSDocableNode): Doc {
  const doc = node.getJsDocs().at(-1);
  if (doc === undefined) return { tags: [] };
  const description = doc.getDescription().trim();
  return {
    ...(description === '' ? {} : { description }),
    tags: doc.getTags().map((tag) => ({
      name: tag.getTagName(),
      text: (tag.getCommentText() ?? '').trim(),
      location: locationOf(tag),
    })),
  };
}
