import { constraintsOf, numericOf } from '../../schema/constraints.js';
import type { FieldSchema, TypeSchema } from '../../schema/type-schema.js';
import type { NumericType } from '../../schema/value-rules.js';
import type { ShardedModels } from '../field-type.js';
import { allowNull, constraintKeywords, objectSchema, type SchemaCode } from '../json-schema.js';
import type { Code } from '../print/code.js';

/** What schemas of the document are written for. */
export interface Documenting {
  /** Requests take more than answers give: a decimal as text or as number. */
  readonly direction: 'request' | 'response';
  readonly isSharded: ShardedModels;
  /** The schema of a currency. */
  readonly currency: () => SchemaCode;
  /** A reference to the schema of a named object; undefined to write it in place. */
  readonly nested: (type: Extract<TypeSchema, { kind: 'object' }>) => Code | undefined;
}

/** The schema of an object in standard keywords only. */
export function documentedObject(fields: readonly FieldSchema[], documenting: Documenting): SchemaCode {
  return objectSchema(fields, (field) => documentedField(field, documenting));
}

/** The schema of one field, with its description. */
export function documentedField(field: FieldSchema, documenting: Documenting): Code {
  const base = documentedType(field.type, numericOf(field), documenting);
  const { description } = field;
  if (isReference(base))
    return field.nullable ? { description, anyOf: [base, { type: 'null' }] } : { description, ...base };
  const schema = { description, ...base, ...tagged(field) };
  return field.nullable ? allowNull(schema) : schema;
}

/** What the tags of its comment say. */
function tagged(field: FieldSchema): SchemaCode {
  if (field.tags.length === 0) return {};
  const { constraints } = constraintsOf(field);
  return {
    ...(constraints.integer === true ? { type: 'integer' } : {}),
    ...defined(constraintKeywords(constraints)),
  };
}

function documentedType(type: TypeSchema, numeric: NumericType, documenting: Documenting): SchemaCode {
  const isRequest = documenting.direction === 'request';
  switch (type.kind) {
    case 'string':
      return isRequest ? { type: 'string', pattern: STORABLE } : { type: 'string' };
    case 'boolean':
    case 'number':
      return { type: type.kind };
    case 'enum':
      return { type: 'string', enum: type.values };
    case 'bigint':
      return { type: isRequest ? ['string', 'integer'] : 'string', pattern: '^-?(0|[1-9][0-9]{0,18})$' };
    case 'decimal':
      return {
        type: isRequest ? ['string', 'number'] : 'string',
        pattern: isRequest ? decimalPattern(numeric) : PLAIN_DECIMAL,
        ...(isRequest ? decimalRange(numeric) : {}),
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
      return idSchema(type.model.name, documenting);
    case 'list':
      return { type: 'array', items: documentedType(type.of, numeric, documenting) };
    case 'object': {
      const nested = documenting.nested(type);
      return isReference(nested) ? nested : documentedObject(type.fields, documenting);
    }
    default:
      return {};
  }
}

/** Texts without NUL, which PostgreSQL does not store. */
const STORABLE = '^[^\\u0000]*$';

/** Values that schemas and answers are shown with. */
export const EXAMPLES = {
  id: '01942f5e-7c00-7a3b-8040-5d0e9c6b1f27',
  uuid: '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10',
  decimal: '150.5',
  instant: '2026-01-31T09:30:00.000Z',
} as const;

/** First characters of the third and fourth block of a UUID. */
const ANY = { version: '', variant: '' };
const VERSION_7 = { version: '7', variant: '[89ab]' };

/** Requests may have upper case, answers never do. */
function uuidPattern({ version, variant }: typeof ANY, isRequest: boolean): string {
  const digit = isRequest ? '[0-9A-Fa-f]' : '[0-9a-f]';
  const digits = (count: number): string => `${digit}{${count}}`;
  const third = version + digits(version === '' ? 4 : 3);
  const fourth = (isRequest ? variant.replace('ab', 'ABab') : variant) + digits(variant === '' ? 4 : 3);
  return `^${[digits(8), digits(4), third, fourth, digits(12)].join('-')}$`;
}

function idSchema(model: string, { direction, isSharded }: Documenting): SchemaCode {
  const version = isSharded(model) ? VERSION_7 : ANY;
  return {
    description: `Id of one ${model}${version === VERSION_7 ? ' (a UUID of version 7)' : ''}.`,
    type: 'string',
    format: 'uuid',
    pattern: uuidPattern(version, direction === 'request'),
    examples: [version === VERSION_7 ? EXAMPLES.id : EXAMPLES.uuid],
  };
}

/** What answers hold: as many digits as the value has. */
const PLAIN_DECIMAL = '^-?[0-9]+(\\.[0-9]+)?$';

function decimalPattern({ precision, scale }: NumericType): string {
  const whole = precision === scale ? '0' : `(0|[1-9][0-9]{0,${precision - scale - 1}})`;
  return scale === 0 ? `^-?${whole}$` : `^-?${whole}(\\.[0-9]{1,${scale}})?$`;
}

/** The same for a decimal that is sent as a number. */
function decimalRange({ precision, scale }: NumericType): SchemaCode {
  const bound = Number(`1e${precision - scale}`);
  return { exclusiveMinimum: -bound, exclusiveMaximum: bound, multipleOf: Number(`1e-${scale}`) };
}

function isReference(code: Code | undefined): code is { readonly $ref: string } {
  return typeof code === 'object' && code !== null && '$ref' in code;
}

function defined(schema: SchemaCode): SchemaCode {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
}
