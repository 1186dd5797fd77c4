import type { NumericType } from '../../runtime/domain/decimal.js';
import type { JsonValue } from '../../runtime/domain/json.js';
import type { ValueRules } from '../../runtime/domain/value-rules.js';
import { parseDefault, parseDouble } from './default-value.js';
import type { DocTag, FieldSchema, TypeSchema } from './type-schema.js';

/** Type of a decimal field without a column type and without `@numeric`. */
export const DEFAULT_NUMERIC: NumericType = { precision: 19, scale: 4 };

/** The parsed tags of a field's comment. */
export interface Constraints extends ValueRules {
  readonly numeric?: NumericType;
  readonly default?: JsonValue;
  readonly label?: string;
  readonly secret?: true;
}

/** An invalid tag. */
export interface TagProblem {
  readonly tag: DocTag;
  readonly message: string;
  readonly hint: string;
}

/** Result of parsing a field's tags. */
export interface FieldConstraints {
  readonly constraints: Constraints;
  /** Invalid tags. Unknown tags belong to other tools. */
  readonly problems: readonly TagProblem[];
}

const UNCONSTRAINED: FieldConstraints = { constraints: {}, problems: [] };

/** Parses the tags of a field. */
export function constraintsOf(field: FieldSchema): FieldConstraints {
  if (field.tags.length === 0) return UNCONSTRAINED;
  const constraints: { -readonly [Key in keyof Constraints]: Constraints[Key] } = {};
  const problems: TagProblem[] = [];
  for (const tag of defaultsLast(field.tags)) {
    if (tag.misplaced) {
      if (FIELD_TAGS.has(tag.name)) problems.push({ tag, message: spelled(tag), hint: MISPLACED });
      continue;
    }
    const rule = Object.hasOwn(TAGS, tag.name) ? TAGS[tag.name] : undefined;
    if (rule === undefined) continue;
    const value = rule.fits(field.type) ? rule.parse(tag.text, field, constraints) : undefined;
    if (value === undefined) {
      problems.push({ tag, message: spelled(tag), hint: rule.usage });
    } else {
      // A tag of the field replaces that of its type.
      if (tag.ofType !== true && isRepeated(tag, field))
        problems.push({
          tag,
          message: spelled(tag),
          hint: `The comment has two. Write one: \`${spelled(tag)}\`.`,
        });
      Object.assign(constraints, { [tag.name]: value });
    }
  }
  if (leavesNothing(constraints)) {
    const tag = field.tags.findLast(({ name }) => BOUNDS.has(name));
    if (tag !== undefined) problems.push({ tag, message: spelled(tag), hint: NOTHING_LEFT });
  }
  return { constraints, problems };
}

function isRepeated(tag: DocTag, { tags }: FieldSchema): boolean {
  return tags.find(({ name, ofType, misplaced }) => name === tag.name && !ofType && !misplaced) !== tag;
}

const NOTHING_LEFT =
  'No value satisfies it together with the other bound of the field. Write a range: `@minLength 1` and `@maxLength 20`.';
const BOUNDS: ReadonlySet<string> = new Set([
  ...['minLength', 'maxLength', 'minItems', 'maxItems'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
]);

function leavesNothing(constraints: Constraints): boolean {
  const low = (name: keyof ValueRules): number => Number(constraints[name] ?? Number.NEGATIVE_INFINITY);
  const high = (name: keyof ValueRules): number => Number(constraints[name] ?? Number.POSITIVE_INFINITY);
  return (
    low('minLength') > high('maxLength') ||
    low('minItems') > high('maxItems') ||
    low('minimum') > high('maximum') ||
    Math.max(low('minimum'), low('exclusiveMinimum')) >= high('exclusiveMaximum') ||
    low('exclusiveMinimum') >= Math.min(high('maximum'), high('exclusiveMaximum'))
  );
}

/** Sorts `@default` last, because its value must satisfy the other tags. */
function defaultsLast(tags: readonly DocTag[]): readonly DocTag[] {
  const isDefault = ({ name }: DocTag): boolean => name === 'default';
  return tags.some(isDefault) ? [...tags.filter((tag) => !isDefault(tag)), ...tags.filter(isDefault)] : tags;
}

function spelled({ name, text }: DocTag): string {
  return `@${name} ${text}`.trim();
}

const MISPLACED =
  'Write it into the comment right before its field, `/** @secret */ readonly field: Type;`: here it may belong to another field.';

/** Returns precision and scale of a decimal field. */
export function numericOf(field: FieldSchema): NumericType {
  return constraintsOf(field).constraints.numeric ?? DEFAULT_NUMERIC;
}

interface TagRule {
  readonly usage: string;
  readonly fits: (type: TypeSchema) => boolean;
  /** Returns undefined for an invalid text. @param others parsed other tags, for a default */
  readonly parse: (text: string, field: FieldSchema, others: Constraints) => JsonValue | undefined;
}

const isKind =
  (...kinds: readonly TypeSchema['kind'][]): TagRule['fits'] =>
  (type) =>
    kinds.includes(type.kind);

function lengthOf(kind: 'string' | 'list', example: string): TagRule {
  return {
    usage: `On a ${kind}, a whole number that is not negative, of at most 9 digits: \`${example}\`.`,
    fits: isKind(kind),
    parse: (text) => (/^\d{1,9}$/.test(text) ? Number(text) : undefined),
  };
}

const BOUND: TagRule = {
  usage: 'On a number, bigint or Decimal, a number of at most 15 digits: `@minimum 1`.',
  fits: isKind('number', 'bigint', 'decimal'),
  parse: parseDouble,
};

const FLAG: Pick<TagRule, 'parse'> = { parse: (text) => (text === '' ? true : undefined) };

const TAGS: Readonly<Record<string, TagRule>> = {
  maxLength: lengthOf('string', '@maxLength 256'),
  minLength: lengthOf('string', '@minLength 1'),
  maxItems: lengthOf('list', '@maxItems 100'),
  minItems: lengthOf('list', '@minItems 1'),
  pattern: {
    usage: 'On a string, a regular expression: `@pattern ^[A-Z]{2}$`.',
    fits: isKind('string'),
    parse: parsePattern,
  },
  minimum: BOUND,
  maximum: BOUND,
  exclusiveMinimum: BOUND,
  exclusiveMaximum: BOUND,
  integer: { usage: 'On a number, without text: `@integer`.', fits: isKind('number'), ...FLAG },
  numeric: {
    usage: 'On a Decimal, precision and scale: `@numeric 38,18`.',
    fits: isKind('decimal'),
    parse: parseNumericTag,
  },
  default: {
    usage:
      'On an optional string, number, boolean, bigint, Decimal, Currency or union of literals, a value that it takes, ' +
      'without quotes: `@default 50`.',
    fits: isKind('string', 'number', 'boolean', 'enum', 'decimal', 'currency', 'bigint'),
    parse: (text, field, others) =>
      field.optional ? parseDefault(text, field.type, others, others.numeric ?? DEFAULT_NUMERIC) : undefined,
  },
  label: {
    usage: 'The name that messages use: `@label balance`.',
    fits: () => true,
    parse: (text) => text || undefined,
  },
  secret: { usage: 'Without text: `@secret`.', fits: () => true, ...FLAG },
};

/** Tags with a meaning in a field's comment. */
export const FIELD_TAGS: ReadonlySet<string> = new Set([...Object.keys(TAGS), 'safePattern']);

function parsePattern(text: string): string | undefined {
  try {
    // JSON Schema interprets patterns with the Unicode flag.
    return text === '' ? undefined : new RegExp(text, 'u').source && text;
  } catch {
    return undefined;
  }
}

function parseNumericTag(text: string): { readonly precision: number; readonly scale: number } | undefined {
  const [, precision, scale] = /^(\d{1,4})\s*,\s*(\d{1,4})$/.exec(text) ?? [];
  const numeric = { precision: Number(precision), scale: Number(scale) };
  return isNumeric(numeric) ? numeric : undefined;
}

/** Whether PostgreSQL accepts `numeric(precision, scale)`, with at most as many digits after the point as in total. */
export function isNumeric({ precision, scale }: NumericType): boolean {
  return precision >= 1 && precision <= 1000 && scale <= precision;
}
