import type { FieldSchema, TypeSchema } from '../../schema/type-schema.js';
import type { ts } from '../compiler.js';
import { abbreviate } from '../read-literal.js';

/** A type, and whether it allows `null` and `undefined`. */
export interface ReadType {
  readonly type: TypeSchema;
  readonly nullable: boolean;
  readonly optional: boolean;
}

/** Merges fields. A later field replaces an earlier one of the same name, as in an extending interface. */
export function mergeFields(fields: readonly FieldSchema[]): readonly FieldSchema[] {
  return [...new Map(fields.map((each) => [each.name, each])).values()];
}

/** Returns a type that allows neither `null` nor `undefined`. */
export function plain(type: TypeSchema): ReadType {
  return { type, nullable: false, optional: false };
}

const SUPPORTED =
  'Use string, number, bigint, boolean, Date, Decimal, Uuid, Currency, Id<X>, ShardedId<X>, a union of literals, an ' +
  'enum, or objects, lists, tuples and records of these; for any other data use `JsonValue`.';

/** Returns a type that cannot be stored or sent. @param hint what to write instead */
export function unsupported(node: ts.TypeNode, hint: string = SUPPORTED): ReadType {
  return unsupportedText(node.getText(), hint);
}

/** Returns the same for a type that has no node. */
export function unsupportedText(text: string, hint: string = SUPPORTED): ReadType {
  return plain({ kind: 'unsupported', text: abbreviate(text), hint });
}

/** Returns the error for a type that contains itself. */
export function recursive(node: ts.TypeNode): ReadType {
  const hint = 'Use `JsonValue` for data of unlimited depth.';
  return plain({ kind: 'unsupported', text: abbreviate(node.getText()), hint, recursive: true });
}
