import type { FieldSchema, TypeSchema } from '../../schema/type-schema.js';
import type { ts } from '../compiler.js';
import { abbreviate } from '../read-literal.js';

/** A type together with what it allows besides. */
export interface ReadType {
  readonly type: TypeSchema;
  /** Allows `null`. */
  readonly nullable: boolean;
  /** Allows `undefined`. */
  readonly optional: boolean;
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
  'Use string, number, bigint, boolean, Date, Decimal, Uuid, Currency, Id<X>, ShardedId<X>, a union of literals, an ' +
  'enum, or objects, lists, tuples and records of these; for any other data `readonly field: JsonValue;`.';

/** A type that cannot be stored or sent, and what to write instead. */
export function unsupported(node: ts.TypeNode, hint: string = SUPPORTED): ReadType {
  return unsupportedText(node.getText(), hint);
}

/** The same for a type that is not written as such. */
export function unsupportedText(text: string, hint: string = SUPPORTED): ReadType {
  return plain({ kind: 'unsupported', text: abbreviate(text), hint });
}

/** A type that contains itself. */
export function recursive(node: ts.TypeNode): ReadType {
  const hint = 'For data of unlimited depth write `JsonValue`.';
  return plain({ kind: 'unsupported', text: abbreviate(node.getText()), hint, recursive: true });
}
