import isSafe from 'safe-regex2';
import { type Diagnostic, diagnostic } from '../diagnostics.js';
import { constraintsOf } from '../schema/constraints.js';
import { allFields } from '../schema/fields.js';
import type { ProjectSchema } from '../schema/project-schema.js';
import type { DocTag, FieldSchema } from '../schema/type-schema.js';

/** Marks a pattern that the author has examined. */
const SAFE = 'safePattern';

/** Patterns that may take exponential time: one request would stop the process. */
export function checkPatterns(schema: ProjectSchema): readonly Diagnostic[] {
  return patternsOf(allFields(schema)).flatMap(({ field, tag, pattern }) => {
    if (isSafe(withoutOptions(pattern)) || field.tags.some(({ name }) => name === SAFE)) return [];
    const message = `@pattern ${pattern} of ${field.name} may take exponential time`;
    const hint = `Remove quantifiers inside of quantified groups, or add @${SAFE} if every text is matched quickly.`;
    return diagnostic('FWGEN061', tag.location, message, hint);
  });
}

/** Patterns of texts without a maximum length: matching takes time in proportion to the body, or to its square. */
export function unboundedPatterns(schema: ProjectSchema): readonly Diagnostic[] {
  return patternsOf(allFields(schema)).flatMap(({ field, tag, pattern }) => {
    if (constraintsOf(field).constraints.maxLength !== undefined || isBounded(pattern)) return [];
    const message = `@pattern ${pattern} of ${field.name} is matched with texts of any length`;
    const hint = 'Add @maxLength: a text that is too long is refused before the pattern is matched.';
    return diagnostic('FWGEN062', tag.location, message, hint);
  });
}

/** Optional parts do not repeat, but the checker counts `?` as a repetition. */
function withoutOptions(pattern: string): string {
  return pattern.replace(/(\\.|\[(?:\\.|[^\]\\])*\]|\(\?)|\?/gs, (_, kept: string | undefined) => kept ?? '');
}

interface PatternTag {
  readonly field: FieldSchema;
  readonly tag: DocTag;
  readonly pattern: string;
}

function patternsOf(fields: Iterable<FieldSchema>): readonly PatternTag[] {
  return [...fields].flatMap((field) => {
    const tag = field.tags.find(({ name }) => name === 'pattern');
    const { pattern } = tag === undefined ? {} : constraintsOf(field).constraints;
    return tag === undefined || pattern === undefined ? [] : [{ field, tag, pattern }];
  });
}

/** Whether only texts up to some length can match, and longer ones fail at once: anchored, without open repetition. */
function isBounded(pattern: string): boolean {
  const structure = pattern.replace(/\\./g, '.').replace(/\[[^\]]*\]/g, '.');
  return /^\^[^|]*\$$/.test(structure) && !/[*+]|\{\d+,\}/.test(structure);
}
