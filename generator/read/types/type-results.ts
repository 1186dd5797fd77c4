import type { DocTag, FieldSchema, TypeSchema } from '../../schema/type-schema.js';
import type { ts } from '../compiler.js';
import { abbreviate } from '../read-literal.js';
import { HINTS } from './hints.js';

/** A type, and whether it allows `null` and `undefined`. */
export interface ReadType {
  readonly type: TypeSchema;
  readonly nullable: boolean;
  readonly optional: boolean;
  /** Tags of the declaration that gives the type: of its alias, interface or enum, or of the field that it is taken from. */
  readonly tags?: readonly DocTag[];
}

/** Merges fields. A later field replaces an earlier one of the same name, as in an extending interface. */
export function mergeFields(fields: readonly FieldSchema[]): readonly FieldSchema[] {
  return [...new Map(fields.map((each) => [each.name, each])).values()];
}

/** Returns a type that allows neither `null` nor `undefined`. */
export function plain(type: TypeSchema): ReadType {
  return { type, nullable: false, optional: false };
}

/** The type without values. */
export const NEVER: ReadType = plain({ kind: 'enum', values: [] });

/** The types that a keyword names. */
export const KEYWORDS: ReadonlyMap<string | undefined, ReadType> = new Map([
  ['string', plain({ kind: 'string' })],
  ['number', plain({ kind: 'number' })],
  ['bigint', plain({ kind: 'bigint' })],
  ['boolean', plain({ kind: 'boolean' })],
  // Stored as any JSON value, typed as written.
  ['unknown', plain({ kind: 'json', brand: {} })],
  ['void', plain({ kind: 'void' })],
  ['undefined', { type: { kind: 'void' }, nullable: false, optional: true }],
  ['null', { type: { kind: 'void' }, nullable: true, optional: false }],
  ['never', NEVER],
  ['true', plain({ kind: 'enum', values: [true] })],
  ['false', plain({ kind: 'enum', values: [false] })],
]);

/** The hint for a type about which nothing more is known. */
export const SUPPORTED: string =
  'Use string, number, bigint, boolean, Date, Decimal, Uuid, Currency, Id<X>, ShardedId<X>, a union of literals, an ' +
  'enum, or objects, lists, tuples and records of these; for any other data use `JsonValue`.';

/** Returns a type that cannot be stored or sent. @param hint what to write instead */
export function unsupported(node: ts.Node, hint: string = SUPPORTED): ReadType {
  return plain({ kind: 'unsupported', text: abbreviate(node.getText()), hint });
}

/** Returns the error for instances of a class, functions and symbols. @param hint what to write instead */
export function notPlain(node: ts.Node, hint: string): ReadType {
  return plain({ kind: 'unsupported', text: abbreviate(node.getText()), hint, isNotPlain: true });
}

/** Returns the error for a type that contains itself. */
export function recursive(node: ts.Node): ReadType {
  const hint = 'Use `JsonValue` for data of unlimited depth.';
  return plain({ kind: 'unsupported', text: abbreviate(node.getText()), hint, recursive: true });
}

/** Returns a list of items. */
export function listOf({ type, nullable, optional, tags }: ReadType, list: ts.Node): ReadType {
  if (type.kind === 'unsupported') return plain(type);
  if (optional || type.kind === 'void' || type.kind === 'model') return unsupported(list, HINTS.item);
  const read = plain({ kind: 'list', of: type, ...(nullable ? { nullable: true } : {}) });
  return withPartTags(read, tags);
}

/** Adds the tags of a part. Only a secret makes the whole what the part is; other tags are no rules for the whole. */
export function withPartTags(read: ReadType, ofPart: readonly DocTag[] = []): ReadType {
  const { tags = [] } = read;
  const isSecret = tags.some(({ name }) => name === 'secret');
  const secret = isSecret ? undefined : ofPart.find(({ name }) => name === 'secret');
  const others = ofPart
    .filter(({ name, location }) => name !== 'secret' && !tags.some((tag) => isAt(tag, location)))
    .map((tag) => ({ ...tag, ofPart: true as const }));
  const added = secret === undefined ? others : [secret, ...others];
  return added.length === 0 ? read : { ...read, tags: [...tags, ...added] };
}

function isAt({ location: { file, line, column } }: DocTag, place: DocTag['location']): boolean {
  return file === place.file && line === place.line && column === place.column;
}

/** Returns the union of the types. */
export function unite(members: readonly ReadType[]): ReadType {
  const values = members.filter(({ type }) => type.kind !== 'void');
  const tags = values.flatMap((each) => each.tags ?? []);
  const united = {
    type: uniteTypes(values.map(({ type }) => type)),
    nullable: members.some(({ nullable }) => nullable),
    optional: members.some(({ optional }) => optional),
  };
  return values.length === 1 && tags.length > 0 ? { ...united, tags } : withPartTags(united, tags);
}

function uniteTypes(types: readonly TypeSchema[]): TypeSchema {
  if (types.length === 0) return { kind: 'void' };
  const flat = types.flatMap((type) => (type.kind === 'union' ? type.of : [type]));
  const broken = flat.find(({ kind }) => kind === 'unsupported');
  if (broken !== undefined) return broken;
  const any = flat.find(({ kind }) => kind === 'json');
  if (any !== undefined) return any;
  const literals = withoutSubtypes(flat);
  const [first, ...others] = literals;
  if (first === undefined) return { kind: 'enum', values: [] };
  return others.length === 0 ? first : { kind: 'union', of: literals };
}

/** Merges literals into one enum, `true` and `false` into boolean, and removes members that a wider member includes. */
function withoutSubtypes(types: readonly TypeSchema[]): readonly TypeSchema[] {
  const has = (kind: TypeSchema['kind']): boolean => types.some((type) => type.kind === kind);
  const enums = types.filter((type) => type.kind === 'enum');
  const all = [...new Set(enums.flatMap(({ values }) => values))];
  const isBoolean = has('boolean') || (all.includes(true) && all.includes(false));
  const values = all.filter(
    (value) =>
      !(typeof value === 'boolean' ? isBoolean : has(typeof value === 'string' ? 'string' : 'number')),
  );
  const others = distinct(types.filter(({ kind }) => kind !== 'enum' && kind !== 'boolean'));
  const [only] = enums;
  const literals: TypeSchema[] =
    values.length === 0
      ? []
      : enums.length === 1 && only !== undefined && values.length === only.values.length
        ? [only]
        : [{ kind: 'enum', values }];
  const booleans: TypeSchema[] = isBoolean ? [{ kind: 'boolean' }] : [];
  return [...others, ...booleans, ...literals];
}

/** Removes types that differ only in locations and comments. */
function distinct(types: readonly TypeSchema[]): readonly TypeSchema[] {
  if (types.length < 2) return types;
  return [...new Map(types.map((type) => [keyOfType(type), type])).values()];
}

/** Returns a unique text for a type, independent of locations and comments. */
function keyOfType(type: unknown): string {
  return JSON.stringify(type, (key, value: unknown) =>
    key === 'location' || key === 'description' || key === 'tags' ? undefined : value,
  );
}
