import { Decimal } from './decimal.js';
import type { FieldType } from './descriptor.js';
import { Id } from './id.js';
import { tagsOf } from './kinds/document-kinds.js';
import type { Chooser, JsonKind, TypeOf } from './kinds/field-kind.js';
import { jsonKindOf } from './kinds/kinds.js';

/**
 * @param compile makes the compiled form of a member
 * @param plain converts another representation of a number to the number. Default: numbers are numbers
 */
export function chooserOf<Part>(
  { of, discriminator }: TypeOf<'union'>,
  compile: (member: FieldType) => Part,
  plain: (value: unknown) => unknown = (value) => value,
): Chooser<Part> {
  const byKind = new Map<JsonKind, Part>();
  const byTag = new Map<unknown, Part>();
  for (const member of of) {
    const part = compile(member);
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
      return value instanceof Date || Decimal.isDecimal(value) || value instanceof Id ? 'string' : 'object';
    default:
      return undefined;
  }
}
