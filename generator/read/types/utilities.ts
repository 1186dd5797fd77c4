import { type EnumValue, enumKind, type FieldSchema, type TypeSchema } from '../../schema/type-schema.js';
import type { ts } from '../compiler.js';
import { locationOf } from '../source-files.js';
import type { Reading } from './reading.js';
import { unrolled } from './recursion.js';
import { isAssignable, literalsOf, membersOf, NEVER, unite } from './relations.js';
import { plain, type ReadType, unsupported } from './type-results.js';

type Utility = (reading: Reading, args: readonly ts.TypeNode[], node: ts.TypeNode) => ReadType;

/** Utility types of the language, by name. */
export const UTILITIES: ReadonlyMap<string, Utility> = new Map<string, Utility>([
  ['Readonly', (reading, [of]) => (of === undefined ? NEVER : reading.read(reading, of))],
  ['NoInfer', (reading, [of]) => (of === undefined ? NEVER : reading.read(reading, of))],
  ['Pick', (reading, args, node) => chosen(reading, args, node, true)],
  ['Omit', (reading, args, node) => chosen(reading, args, node, false)],
  [
    'Partial',
    (reading, args, node) => changed(reading, args, node, (field) => ({ ...field, optional: true })),
  ],
  [
    'Required',
    (reading, args, node) => changed(reading, args, node, (field) => ({ ...field, optional: false })),
  ],
  ['Record', readRecord],
  ['Exclude', (reading, args) => filtered(reading, args, false)],
  ['Extract', (reading, args) => filtered(reading, args, true)],
  ['NonNullable', readNonNullable],
  ['Uppercase', (...given) => spelled(...given, (text) => text.toUpperCase())],
  ['Lowercase', (...given) => spelled(...given, (text) => text.toLowerCase())],
  ['Capitalize', (...given) => spelled(...given, (text) => text.charAt(0).toUpperCase() + text.slice(1))],
  ['Uncapitalize', (...given) => spelled(...given, (text) => text.charAt(0).toLowerCase() + text.slice(1))],
]);

/** Returns the fields of an object type, which may be a class. */
function fieldsOf(reading: Reading, node: ts.TypeNode): readonly FieldSchema[] | undefined {
  const { type: read, nullable, optional } = reading.read({ ...reading, shape: 'fields' }, node);
  const type = unrolled(read);
  return type.kind === 'object' && !nullable && !optional ? type.fields : undefined;
}

const FIELDS_NEEDED =
  "Its first type argument must be an object type with known fields: `Pick<Address, 'street'>`.";

function chosen(
  reading: Reading,
  [of, keys]: readonly ts.TypeNode[],
  node: ts.TypeNode,
  isPick: boolean,
): ReadType {
  const fields = of === undefined ? undefined : fieldsOf(reading, of);
  const names = keys === undefined ? undefined : literalsOf(reading.read(reading, keys));
  if (fields === undefined || names === undefined) return unsupported(node, FIELDS_NEEDED);
  return plain({ kind: 'object', fields: fields.filter(({ name }) => names.includes(name) === isPick) });
}

function changed(
  reading: Reading,
  [of]: readonly ts.TypeNode[],
  node: ts.TypeNode,
  change: (field: FieldSchema) => FieldSchema,
): ReadType {
  if (of === undefined) return unsupported(node, FIELDS_NEEDED);
  const type = unrolled(reading.read({ ...reading, shape: 'fields' }, of).type);
  // A record already has any key, and a list stays unchanged.
  if (type.kind === 'record') return plain(type);
  if (type.kind !== 'object') return unsupported(node, FIELDS_NEEDED);
  return plain({ kind: 'object', fields: type.fields.map(change) });
}

function readRecord(reading: Reading, [keys, values]: readonly ts.TypeNode[], node: ts.TypeNode): ReadType {
  if (keys === undefined || values === undefined) return unsupported(node);
  const key = reading.read(reading, keys);
  const value = reading.read({ ...reading, shape: 'value' }, values);
  return recordOf(key, () => value, node);
}

/** Returns an object with one field per literal, or a record if any text is a key. */
export function recordOf(
  key: ReadType,
  valueFor: (name: EnumValue) => ReadType,
  node: ts.TypeNode,
  fieldFor: (name: string, value: ReadType) => FieldSchema = (name, value) => ({
    name,
    ...value,
    tags: [],
    location: locationOf(node),
  }),
): ReadType {
  const names = literalsOf(key);
  if (names !== undefined) {
    return plain({ kind: 'object', fields: names.map((name) => fieldFor(String(name), valueFor(name))) });
  }
  if (key.type.kind !== 'string' && key.type.kind !== 'uuid' && key.type.kind !== 'currency') {
    return unsupported(
      node,
      "Use string keys (`Record<string, T>`) or literal keys (`Record<'day' | 'month', T>`).",
    );
  }
  const { type, nullable } = valueFor('');
  if (type.kind === 'unsupported') return plain(type);
  return plain({ kind: 'record', of: type, ...(nullable ? { nullable: true } : {}) });
}

function filtered(reading: Reading, [of, by]: readonly ts.TypeNode[], isKept: boolean): ReadType {
  if (of === undefined || by === undefined) return NEVER;
  // Members are compared by all of their fields.
  const whole: Reading = { ...reading, shape: typeof reading.shape === 'string' ? reading.shape : 'fields' };
  const wanted = whole.read(whole, by);
  const members = membersOf(whole.read(whole, of));
  return remaining(members.filter((member) => (isAssignable(member, wanted) === true) === isKept));
}

/** Without members, returns `never`. */
export function remaining(members: readonly ReadType[]): ReadType {
  return members.length === 0 ? NEVER : unite(members);
}

function readNonNullable(reading: Reading, [of]: readonly ts.TypeNode[]): ReadType {
  return of === undefined ? NEVER : plain(reading.read(reading, of).type);
}

function spelled(
  reading: Reading,
  [of]: readonly ts.TypeNode[],
  node: ts.TypeNode,
  spell: (text: string) => string,
): ReadType {
  const type: TypeSchema | undefined = of === undefined ? undefined : reading.read(reading, of).type;
  if (type?.kind !== 'enum' || enumKind(type.values) !== 'string') {
    return unsupported(node, "Its type argument must be a union of string literals: `Uppercase<'x' | 'y'>`.");
  }
  return plain({ kind: 'enum', values: type.values.map((value) => spell(String(value))) });
}
