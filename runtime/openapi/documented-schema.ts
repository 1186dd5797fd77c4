import type { FieldDescriptor, FieldType, ItemDescriptor, ObjectType } from '../domain/descriptor.js';
import { tagsOf } from '../domain/union-type.js';
import { allowNull, isReference, type Json, type JsonPart } from './json-schema.js';

/** The context of a schema in the document. */
export interface Documenting {
  /** Requests accept more than responses contain: a decimal as text or as a number. */
  readonly direction: 'request' | 'response';
  /** A reference to the schema of a currency. */
  readonly currency: () => JsonPart;
  /** A reference to the schema of a named object; undefined to inline it. */
  readonly named: (type: ObjectType) => JsonPart | undefined;
  /** A reference to the schema of an object with this discriminator in its union. */
  readonly variant: (type: ObjectType, tag: string) => JsonPart;
  /** A reference to the schema of a type that contains itself. */
  readonly recursive: (type: Extract<FieldType, { kind: 'recursive' }>) => JsonPart;
  /** A reference to the schema of the enclosing recursive type with this name. */
  readonly again: (name: string) => JsonPart;
}

/** The schema of an object: closed, with standard keywords only. */
export function documentedObject(fields: readonly FieldDescriptor[], documenting: Documenting): JsonPart {
  const required = fields.filter(({ optional }) => optional !== true).map(({ name }) => name);
  return {
    type: 'object',
    properties: membersOf(fields.map((field) => [field.name, documentedField(field, documenting)])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

/** The schema of one field, with its description. */
export function documentedField(field: FieldDescriptor, documenting: Documenting): JsonPart {
  const base = documentedType(field.type, documenting);
  const description = field.doc === undefined ? {} : { description: field.doc };
  if (isReference(base))
    return field.nullable === true
      ? { ...description, anyOf: [base, { type: 'null' }] }
      : { ...description, ...base };
  const schema = { ...description, ...base, ...ruleKeywords(field) };
  return field.nullable === true ? orNull(schema) : schema;
}

/** Names come from the sources: `__proto__` must become an own property. */
export function membersOf(entries: Iterable<readonly [name: string, value: Json]>): JsonPart {
  return Object.fromEntries(entries);
}

/** Rules have the names of their JSON Schema keywords. */
function ruleKeywords({ rules = {}, default: absent }: FieldDescriptor): JsonPart {
  const { integer, ...keywords } = rules;
  return {
    ...(integer === true ? { type: 'integer' } : {}),
    ...keywords,
    ...(absent === undefined ? {} : { default: absent }),
  };
}

/** Adds null. A schema without a type already allows it or is one of several. */
function orNull(schema: JsonPart): JsonPart {
  if ('type' in schema || 'enum' in schema) return allowNull(schema);
  const isAny = !isReference(schema) && !('oneOf' in schema);
  return isAny ? schema : { anyOf: [schema, { type: 'null' }] };
}

/** The schema of a type without a description. */
export function documentedType(type: FieldType, documenting: Documenting): JsonPart {
  const isRequest = documenting.direction === 'request';
  switch (type.kind) {
    case 'string':
      return isRequest ? { type: 'string', pattern: STORABLE } : { type: 'string' };
    case 'boolean':
    case 'number':
      return { type: type.kind };
    case 'enum':
      return documentedEnum(type.values);
    case 'bigint':
      return isRequest
        ? { type: ['string', 'integer'], pattern: INTEGER_64, minimum: -(2 ** 63), exclusiveMaximum: 2 ** 63 }
        : { type: 'string', pattern: INTEGER_64 };
    case 'decimal':
      return {
        type: isRequest ? ['string', 'number'] : 'string',
        pattern: isRequest ? decimalPattern(type) : PLAIN_DECIMAL,
        ...(isRequest ? decimalRange(type) : {}),
        examples: [EXAMPLES.decimal],
      };
    case 'instant':
      return { type: 'string', format: 'date-time', examples: [EXAMPLES.instant] };
    case 'uuid':
      return {
        type: 'string',
        format: 'uuid',
        pattern: uuidPattern(ANY, isRequest),
        examples: [EXAMPLES.uuid],
      };
    case 'currency':
      return documenting.currency();
    case 'id':
      return idSchema(type, isRequest);
    case 'list':
      return { type: 'array', items: documentedItem({ ...type, type: type.of }, documenting) };
    case 'record':
      return {
        type: 'object',
        additionalProperties: documentedItem({ ...type, type: type.of }, documenting),
      };
    case 'tuple':
      return documentedTuple(type, documenting);
    case 'union':
      return documentedUnion(type, documenting);
    case 'recursive':
      return documenting.recursive(type);
    case 'again':
      return documenting.again(type.name);
    case 'object':
      return documenting.named(type) ?? documentedObject(type.fields, documenting);
    case 'json':
      return {};
  }
}

/** The texts of integers of 64 bits. */
const INTEGER_64 = `^(-?(${atMost('9223372036854775807')})|-9223372036854775808)$`;

/** A pattern of the integers up to this one, whose first digit is not 1. */
function atMost(largest: string): string {
  const smaller = [...largest].flatMap((digit, at) => {
    const [least, most] = [at === 0 ? 1 : 0, Number(digit) - 1];
    return most < least ? [] : [`${largest.slice(0, at)}[${least}-${most}][0-9]{${largest.length - at - 1}}`];
  });
  return ['0', `[1-9][0-9]{0,${largest.length - 2}}`, ...smaller, largest].join('|');
}

/** Texts without NUL, which PostgreSQL does not store. */
const STORABLE = '^[^\\u0000]*$';

/** Example values in schemas and responses. */
export const EXAMPLES = {
  id: '01942f5e-7c00-7a3b-8040-5d0e9c6b1f27',
  uuid: '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10',
  decimal: '150.5',
  instant: '2026-01-31T09:30:00.000Z',
} as const;

/** First characters of the third and fourth block of a UUID. */
const ANY = { version: '', variant: '' };
const VERSION_7 = { version: '7', variant: '[89ab]' };

/** Requests may contain upper case, responses never do. */
function uuidPattern({ version, variant }: typeof ANY, isRequest: boolean): string {
  const digit = isRequest ? '[0-9A-Fa-f]' : '[0-9a-f]';
  const digits = (count: number): string => `${digit}{${count}}`;
  const third = version + digits(version === '' ? 4 : 3);
  const fourth = (isRequest ? variant.replace('ab', 'ABab') : variant) + digits(variant === '' ? 4 : 3);
  return `^${[digits(8), digits(4), third, fourth, digits(12)].join('-')}$`;
}

function idSchema({ model, sharded }: Extract<FieldType, { kind: 'id' }>, isRequest: boolean): JsonPart {
  return {
    description: `Id of one ${model}${sharded ? ' (a UUID of version 7)' : ''}.`,
    type: 'string',
    format: 'uuid',
    pattern: uuidPattern(sharded ? VERSION_7 : ANY, isRequest),
    examples: [sharded ? EXAMPLES.id : EXAMPLES.uuid],
  };
}

/** Decimals in responses: as many digits as the value has. */
const PLAIN_DECIMAL = '^-?[0-9]+(\\.[0-9]+)?$';

/** Digits of a decimal: in total, and after the decimal point. */
interface Digits {
  readonly precision: number;
  readonly scale: number;
}

function decimalPattern({ precision, scale }: Digits): string {
  const whole = precision === scale ? '0' : `(0|[1-9][0-9]{0,${precision - scale - 1}})`;
  return scale === 0 ? `^-?${whole}$` : `^-?${whole}(\\.[0-9]{1,${scale}})?$`;
}

/** The same for a decimal that is sent as a number. */
function decimalRange({ precision, scale }: Digits): JsonPart {
  const bound = Number(`1e${precision - scale}`);
  return { exclusiveMinimum: -bound, exclusiveMaximum: bound, multipleOf: Number(`1e-${scale}`) };
}

function documentedEnum(values: readonly (string | number | boolean)[]): JsonPart {
  const [kind, ...others] = new Set(values.map((value) => typeof value));
  return others.length > 0 || kind === undefined ? { enum: values } : { type: kind, enum: values };
}

function documentedItem(
  { type, nullable }: Pick<ItemDescriptor, 'type' | 'nullable'>,
  documenting: Documenting,
): JsonPart {
  const schema = documentedType(type, documenting);
  return nullable === true ? orNull(schema) : schema;
}

function documentedTuple(
  { items, rest }: Extract<FieldType, { kind: 'tuple' }>,
  documenting: Documenting,
): JsonPart {
  return {
    type: 'array',
    prefixItems: items.map((item) => documentedItem(item, documenting)),
    minItems: items.filter(({ optional }) => optional !== true).length,
    ...(rest === undefined ? { maxItems: items.length } : { items: documentedItem(rest, documenting) }),
  };
}

function documentedUnion(
  { of, discriminator }: Extract<FieldType, { kind: 'union' }>,
  documenting: Documenting,
): JsonPart {
  if (discriminator === undefined) return { oneOf: of.map((member) => documentedType(member, documenting)) };
  const mapping: [string, Json][] = [];
  const oneOf = of.map((member) => {
    const tags = tagsOf(member, discriminator);
    const schema =
      member.kind === 'object' && tags.length > 0
        ? (documenting.named(member) ?? documenting.variant(member, String(tags[0])))
        : documentedType(member, documenting);
    for (const tag of tags) mapping.push([String(tag), schema['$ref'] ?? '']);
    return schema;
  });
  return { oneOf, discriminator: { propertyName: discriminator, mapping: membersOf(mapping) } };
}
