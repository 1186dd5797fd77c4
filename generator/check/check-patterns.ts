import isSafe from 'safe-regex2';
import { type Diagnostic, diagnostic } from '../diagnostics.js';
import { constraintsOf } from '../schema/constraints.js';
import { allFields } from '../schema/fields.js';
import type { ProjectSchema } from '../schema/project-schema.js';
import type { DocTag, FieldSchema } from '../schema/type-schema.js';

/** Marks a pattern that the author has examined. */
const SAFE = 'safePattern';

/** Patterns that may take exponential time: one request would stop the process. */
export function checkPatternTimes(schema: ProjectSchema): readonly Diagnostic[] {
  return patternsOf(schema).flatMap(({ field, tag, pattern }) =>
    isSafe(withoutOptions(pattern)) || field.tags.some(({ name }) => name === SAFE)
      ? []
      : [
          diagnostic(
            'FWGEN061',
            tag.location,
            `@pattern ${pattern} of ${field.name} may take exponential time`,
            `Remove quantifiers inside of quantified groups, or add @${SAFE} if every text is matched quickly.`,
          ),
        ],
  );
}

/** Patterns of texts without a maximum length: matching takes time in proportion to the body, or to its square. */
export function unboundedPatterns(schema: ProjectSchema): readonly Diagnostic[] {
  return patternsOf(schema).flatMap(({ field, tag, pattern }) =>
    constraintsOf(field).constraints.maxLength !== undefined || isBounded(pattern)
      ? []
      : [
          diagnostic(
            'FWGEN062',
            tag.location,
            `@pattern ${pattern} of ${field.name} is matched with texts of any length`,
            'Add @maxLength: a text that is too long is refused before the pattern is matched.',
          ),
        ],
  );
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

function patternsOf(schema: ProjectSchema): readonly PatternTag[] {
  return [...allFields(schema)].flatMap((field) => {
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
