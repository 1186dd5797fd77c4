import { Decimal } from '../decimal.js';
import type { FieldType } from '../descriptor.js';
import { Id } from '../id.js';
import type { JsonKind, TypeOf } from './field-kind.js';

/** Chooses the part of a compiled union that a value belongs to; undefined if there is none. */
export type Chooser<Part> = (value: unknown) => Part | undefined;

/**
 * @param parts the compiled form of each member, in their order
 * @param plain converts another representation of a number to the number. Default: numbers are numbers
 */
export function chooserOf<Part>(
  { of, discriminator }: TypeOf<'union'>,
  parts: readonly Part[],
  jsonKindOf: (type: FieldType) => JsonKind,
  plain: (value: unknown) => unknown = (value) => value,
): Chooser<Part> {
  const byKind = new Map<JsonKind, Part>();
  const byTag = new Map<unknown, Part>();
  for (const [index, member] of of.entries()) {
    const part = parts[index];
    if (part === undefined) continue;
    byKind.set(jsonKindOf(member), part);
    for (const tag of tagsOf(member, discriminator)) byTag.set(tag, part);
  }
  return (given) => {
    const value = plain(given);
    const kind = jsonKindOfValue(value);
    if (kind !== 'object' || discriminator === undefined)
      return kind === undefined ? undefined : byKind.get(kind);
    const source = value as Readonly<Record<string, unknown>>;
    return Object.hasOwn(source, discriminator) ? byTag.get(plain(source[discriminator])) : undefined;
  };
}

/** The discriminator values of a union's member. */
export function tagsOf(
  type: FieldType,
  discriminator: string | undefined,
): readonly (string | number | boolean)[] {
  if (type.kind === 'recursive') return tagsOf(type.of, discriminator);
  if (type.kind === 'again') return type.tags ?? [];
  if (type.kind !== 'object' || discriminator === undefined) return [];
  const tag = type.fields.find(({ name }) => name === discriminator)?.type;
  return tag?.kind === 'enum' ? tag.values : [];
}

/** The kind of a value, or of its JSON form. */
function jsonKindOfValue(value: unknown): JsonKind | undefined {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value as JsonKind;
    case 'bigint':
      return 'string';
    case 'object':
      if (value === null) return undefined;
      if (Array.isArray(value)) return 'array';
      return value instanceof Date || value instanceof Decimal || value instanceof Id ? 'string' : 'object';
    default:
      return undefined;
  }
}
