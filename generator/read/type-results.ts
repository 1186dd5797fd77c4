import type { FieldSchema, TypeSchema } from '../schema/type-schema.js';
import type { ts } from './compiler.js';
import { abbreviate } from './read-literal.js';

/** A type together with what it allows besides. */
export interface ReadType {
  readonly type: TypeSchema;
  /** Allows `null`. */
  readonly nullable: boolean;
  /** Allows `undefined`. */
  readonly optional: boolean;
}

/** One of several types that are not null or undefined, or all of them as one. */
export function unite(types: readonly TypeSchema[], union: ts.TypeNode): TypeSchema {
  const [first] = types;
  if (first === undefined) return { kind: 'void' };
  if (isBoolean(types)) return { kind: 'boolean' };
  const broken = types.find((type) => type.kind === 'unsupported');
  if (types.length === 1 || broken !== undefined) return broken ?? first;
  const enums = types.filter((type) => type.kind === 'enum');
  if (enums.length < types.length) return unsupported(union).type;
  return { kind: 'enum', values: [...new Set(enums.flatMap((each) => each.values))] };
}

/** `true` or `false` alone is no type that could be checked; both together are one. */
function isBoolean(types: readonly TypeSchema[]): boolean {
  const texts = types.map((type) => (type.kind === 'unsupported' ? type.text : type.kind));
  const isWhole = texts.includes('boolean') || (texts.includes('true') && texts.includes('false'));
  return isWhole && texts.every((text) => text === 'boolean' || text === 'true' || text === 'false');
}

/** A later field replaces an earlier one of its name, as an extending interface's does. */
export function mergeFields(fields: readonly FieldSchema[]): readonly FieldSchema[] {
  return [...new Map(fields.map((each) => [each.name, each])).values()];
}

/** A type that allows nothing besides. */
export function plain(type: TypeSchema): ReadType {
  return { type, nullable: false, optional: false };
}

const SUPPORTED =
  'Use string, number, bigint, boolean, Date, Decimal, Uuid, Currency, Id<X>, ShardedId<X>, a union of string ' +
  'literals, a string enum, JsonValue, or objects and lists of these; those of a model hold no bigint, Date, Decimal ' +
  'or id.';

/** A type that cannot be stored or sent, and what to write instead. */
export function unsupported(node: ts.TypeNode, hint: string = SUPPORTED): ReadType {
  return plain({ kind: 'unsupported', text: abbreviate(node.getText()), hint });
}

/** A type that contains itself. */
export function recursive(node: ts.TypeNode): ReadType {
  const hint = 'Use JsonValue for data of unlimited depth.';
  return plain({ kind: 'unsupported', text: abbreviate(node.getText()), hint, recursive: true });
}
