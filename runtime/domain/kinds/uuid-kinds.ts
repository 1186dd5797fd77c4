import { Id, idNamed, ShardedId } from '../id.js';
import { canonicalUuid, isUuid, parseUuid, type Uuid } from '../uuid.js';
import type { FieldKind, TypeOf } from './field-kind.js';
import { textOf } from './json-values.js';

const ID_EXAMPLE = '01942f5e-7c00-7a3b-8040-5d0e9c6b1f27';
const UUID_EXAMPLE = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';

/** First characters of the third and fourth block of a UUID. */
const ANY = { version: '', variant: '' };
const VERSION_7 = { version: '7', variant: '[89ab]' };

export const uuidKind: FieldKind<TypeOf<'uuid'>> = {
  writer: (_, field) => (value) => `"${canonicalUuid(value as Uuid, field.name)}"`,
  reader: (_, field) => (json) => parseUuid(textOf(json, field.name)),
  column: () => ({
    sqlType: 'uuid',
    order: 'uuid',
    text: (field) => (value) => canonicalUuid(value as Uuid, field),
    keyText: (value) => (value as Uuid).toLowerCase(),
  }),
  isValue: (value) => typeof value === 'string' && isUuid(value),
  schema: (_, { direction }) => ({
    type: 'string',
    format: 'uuid',
    pattern: patternOf(ANY, direction === 'request'),
    examples: [UUID_EXAMPLE],
  }),
  example: () => UUID_EXAMPLE,
};

/** An `Id<Model>` or, if `sharded`, a `ShardedId<Model>`. */
export const idKind: FieldKind<TypeOf<'id'>> = {
  writer: () => (value) => `"${(value as Id<unknown>).getValue()}"`,
  reader: ({ model, sharded }, { name }) =>
    sharded
      ? (json) => ShardedId.named(model, textOf(json, name))
      : (json) => idNamed(model, textOf(json, name)),
  isText: true,
  column: ({ model, sharded }) => ({
    sqlType: 'uuid',
    order: 'uuid',
    text: () => (value) => (value as Id<unknown>).getValue(),
    fromDriver: sharded
      ? (value) => ShardedId.trusted(model, value as string)
      : (value) => idNamed(model, value as string),
    keyText: (value) => (value as Id<unknown>).getValue(),
  }),
  isValue: (value) => value instanceof Id,
  schema: ({ model, sharded }, { direction }) => ({
    description: `Id of one ${model}${sharded ? ' (a UUID of version 7)' : ''}.`,
    type: 'string',
    format: 'uuid',
    pattern: patternOf(sharded ? VERSION_7 : ANY, direction === 'request'),
    examples: [sharded ? ID_EXAMPLE : UUID_EXAMPLE],
  }),
  example: () => ID_EXAMPLE,
};

/** Requests may contain upper case, responses never do. */
function patternOf({ version, variant }: typeof ANY, isRequest: boolean): string {
  const digit = isRequest ? '[0-9A-Fa-f]' : '[0-9a-f]';
  const digits = (count: number): string => `${digit}{${count}}`;
  const third = version + digits(version === '' ? 4 : 3);
  const fourth = (isRequest ? variant.replace('ab', 'ABab') : variant) + digits(variant === '' ? 4 : 3);
  return `^${[digits(8), digits(4), third, fourth, digits(12)].join('-')}$`;
}
