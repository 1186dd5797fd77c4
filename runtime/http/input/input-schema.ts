import { isLosslessNumber } from 'lossless-json';
import type { FieldType } from '../../domain/descriptor.js';
import type { JsonValue } from '../../domain/json.js';
import type { JsonSchema } from '../route.js';
import { type Converter, compileConverter, type NumberRules, type ValueSource } from './convert.js';
import { Refusal } from './refusal.js';

/** What our keyword `fw` is told about one value. */
export interface CheckedValue {
  readonly label: string;
  readonly nullable: boolean;
  readonly convert: Converter;
}

/** A schema made ready for Ajv: leaves carry converters, so it is no JSON any more. */
export type PreparedSchema = { readonly [keyword: string]: unknown };

/** Keywords that hold for the converted value and are left to Ajv. */
const NUMBER_KEYWORDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const;
const STRING_KEYWORDS = ['minLength', 'maxLength', 'pattern', 'enum', 'const'] as const;
/** Keywords of objects and lists that are left to Ajv. */
const CONTAINER_KEYWORDS = [
  'required',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
] as const;

/**
 * Prepares a route's schema: every leaf gets our keyword in place of `type`, because numbers arrive as their own text
 * and leave as decimals, ids or dates. What is said about the converted value moves into `allOf`, which Ajv looks at
 * after our keyword. Objects are closed: a field that the schema does not name is a mistake of the caller.
 *
 * @param label the name that messages use, unless the schema has an `fwLabel`
 */
export function prepareSchema(
  schema: JsonSchema,
  source: ValueSource,
  label: string,
  inherited?: FieldType,
): PreparedSchema {
  const type = fieldTypeOf(schema) ?? inherited ?? typeByKeyword(schema);
  const named = typeof schema['fwLabel'] === 'string' ? schema['fwLabel'] : label;
  if (isSchema(schema['properties'])) return prepareObject(schema, schema['properties'], source, named, type);
  if (isSchema(schema['items']) || type.kind === 'list') return prepareList(schema, source, named, type);
  return prepareLeaf(schema, source, named, type);
}

function prepareObject(
  schema: JsonSchema,
  properties: JsonSchema,
  source: ValueSource,
  label: string,
  type: FieldType,
): PreparedSchema {
  const fields = type.kind === 'object' ? type.fields : [];
  const prepared: Record<string, PreparedSchema> = {};
  for (const [name, property] of Object.entries(properties)) {
    const field = fields.find((candidate) => candidate.name === name);
    prepared[name] = prepareSchema(isSchema(property) ? property : {}, source, name, field?.type);
  }
  return {
    fw: { label, nullable: isNullable(schema), convert: isPlainObject } satisfies CheckedValue,
    properties: prepared,
    additionalProperties: false,
    ...pick(schema, CONTAINER_KEYWORDS),
    ...pick(schema, ['default']),
  };
}

function prepareList(
  schema: JsonSchema,
  source: ValueSource,
  label: string,
  type: FieldType,
): PreparedSchema {
  const items = isSchema(schema['items']) ? schema['items'] : {};
  const itemType = type.kind === 'list' ? type.of : undefined;
  return {
    fw: { label, nullable: isNullable(schema), convert: isArray } satisfies CheckedValue,
    items: prepareSchema(items, source, `${label}[]`, itemType),
    ...pick(schema, CONTAINER_KEYWORDS),
    ...pick(schema, ['default']),
  };
}

function prepareLeaf(
  schema: JsonSchema,
  source: ValueSource,
  label: string,
  type: FieldType,
): PreparedSchema {
  const leaf: CheckedValue = {
    label,
    nullable: isNullable(schema) || (type.kind === 'json' && schema['type'] === undefined),
    convert: compileConverter(type, source, numberRulesOf(schema)),
  };
  const rules =
    type.kind === 'string'
      ? pick(schema, STRING_KEYWORDS)
      : type.kind === 'number'
        ? pick(schema, NUMBER_KEYWORDS)
        : {};
  const hasRules = Object.keys(rules).length > 0;
  return {
    fw: leaf,
    ...pick(schema, ['default']),
    ...(hasRules ? { allOf: [{ fwLabel: label, ...rules }] } : {}),
  };
}

const isPlainObject: Converter = (value) =>
  typeof value === 'object' && !Array.isArray(value) && !isLosslessNumber(value)
    ? value
    : new Refusal('must be a JSON object');

const isArray: Converter = (value) => (Array.isArray(value) ? value : new Refusal('must be a JSON array'));

function numberRulesOf(schema: JsonSchema): NumberRules {
  const bounds: Record<string, number> = {};
  for (const keyword of NUMBER_KEYWORDS) {
    const bound = schema[keyword];
    if (typeof bound === 'number') bounds[keyword] = bound;
  }
  return { ...bounds, integer: namedTypes(schema).includes('integer') };
}

function fieldTypeOf(schema: JsonSchema): FieldType | undefined {
  const type = schema['fw'];
  // The generator's own data: emitted from a `FieldType`, checked by its tests.
  return isSchema(type) && typeof type['kind'] === 'string' ? (type as unknown as FieldType) : undefined;
}

/** For schemas by hand, which need not say `fw` where JSON's own types are meant. */
function typeByKeyword(schema: JsonSchema): FieldType {
  const [name] = namedTypes(schema).filter((candidate) => candidate !== 'null');
  if (name === 'string') {
    const values = Array.isArray(schema['enum'])
      ? schema['enum'].filter((value) => typeof value === 'string')
      : [];
    return values.length > 0 ? { kind: 'enum', values } : { kind: 'string' };
  }
  if (name === 'number' || name === 'integer') return { kind: 'number' };
  return name === 'boolean' ? { kind: 'boolean' } : { kind: 'json' };
}

function isNullable(schema: JsonSchema): boolean {
  return namedTypes(schema).includes('null');
}

function namedTypes(schema: JsonSchema): readonly JsonValue[] {
  const type = schema['type'];
  return Array.isArray(type) ? type : type === undefined ? [] : [type];
}

function isSchema(value: JsonValue | undefined): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function pick(schema: JsonSchema, keywords: readonly string[]): Record<string, JsonValue> {
  const picked: Record<string, JsonValue> = {};
  for (const keyword of keywords) {
    const value = schema[keyword];
    if (value !== undefined) picked[keyword] = value;
  }
  return picked;
}
