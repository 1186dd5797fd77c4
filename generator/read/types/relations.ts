import { type EnumValue, enumKind, type FieldSchema, type TypeSchema } from '../../schema/type-schema.js';
import { plain, type ReadType } from './type-results.js';

/** The type without values. */
export const NEVER: ReadType = plain({ kind: 'enum', values: [] });

const NULL: ReadType = { type: { kind: 'void' }, nullable: true, optional: false };
const UNDEFINED: ReadType = { type: { kind: 'void' }, nullable: false, optional: true };

/** Returns the members of a union. Each literal, `null` and `undefined` is a member of its own. */
export function membersOf({ type, nullable, optional }: ReadType): readonly ReadType[] {
  return [...typesOf(type).map(plain), ...(nullable ? [NULL] : []), ...(optional ? [UNDEFINED] : [])];
}

function typesOf(type: TypeSchema): readonly TypeSchema[] {
  switch (type.kind) {
    case 'enum':
      return type.values.map((value) => ({ kind: 'enum', values: [value] }));
    case 'boolean':
      return [true, false].map((value) => ({ kind: 'enum', values: [value] }));
    case 'union':
      return type.of.flatMap(typesOf);
    case 'void':
      return [];
    default:
      return [type];
  }
}

/** Returns the union of the types. */
export function unite(members: readonly ReadType[]): ReadType {
  return {
    type: uniteTypes(members.map(({ type }) => type).filter(({ kind }) => kind !== 'void')),
    nullable: members.some(({ nullable }) => nullable),
    optional: members.some(({ optional }) => optional),
  };
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
export function keyOfType(type: unknown): string {
  return JSON.stringify(type, (key, value: unknown) =>
    key === 'location' || key === 'description' || key === 'tags' ? undefined : value,
  );
}

/** Whether a value of one type is assignable to another; undefined if unknown. */
export function isAssignable(from: ReadType, to: ReadType): boolean | undefined {
  if (to.type.kind === 'json') return true;
  return every(membersOf(from), (member) => {
    if (member.type.kind === 'void') return member.nullable ? to.nullable : to.optional;
    return isTypeAssignable(member.type, to.type);
  });
}

function isTypeAssignable(from: TypeSchema, to: TypeSchema): boolean | undefined {
  if (from.kind === 'unsupported' || to.kind === 'unsupported') return undefined;
  if (to.kind === 'json') return true;
  if (to.kind === 'union') return some(to.of, (each) => isTypeAssignable(from, each));
  if (from.kind === 'union') return every(from.of, (each) => isTypeAssignable(each, to));
  switch (from.kind) {
    case 'enum':
      return to.kind === 'enum'
        ? from.values.every((value) => to.values.includes(value))
        : enumKind(from.values) === to.kind;
    case 'uuid':
    case 'currency':
      return to.kind === from.kind || (to.kind === 'string' && to.brand === undefined);
    case 'list':
      return to.kind === 'list' ? isTypeAssignable(from.of, to.of) : isEmptyObject(to);
    case 'tuple':
      return to.kind === 'list'
        ? every(from.items, ({ type }) => isTypeAssignable(type, to.of))
        : to.kind === 'tuple'
          ? isSameText(from, to)
          : isEmptyObject(to);
    case 'object':
      return isObjectAssignable(from.fields, to);
    case 'record':
      return to.kind === 'record' ? isTypeAssignable(from.of, to.of) : isEmptyObject(to);
    case 'id':
      return to.kind === 'id' && to.model.name === from.model.name && (from.sharded || !to.sharded);
    case 'model':
      return to.kind === 'model' && to.model.name === from.model.name;
    case 'void':
      return to.kind === 'void';
    default:
      if (to.kind !== from.kind) return isEmptyObject(to);
      return !('brand' in to) || to.brand === undefined || isSameText(from, to);
  }
}

/** Whether a type is `{}`, to which everything is assignable. */
function isEmptyObject(type: TypeSchema): boolean {
  return type.kind === 'object' && type.fields.length === 0;
}

function isSameText(one: TypeSchema, other: TypeSchema): boolean {
  return keyOfType(one) === keyOfType(other);
}

function isObjectAssignable(fields: readonly FieldSchema[], to: TypeSchema): boolean | undefined {
  if (to.kind === 'record') return every(fields, (field) => isTypeAssignable(field.type, to.of));
  if (to.kind !== 'object') return false;
  return every(to.fields, (wanted) => {
    const field = fields.find(({ name }) => name === wanted.name);
    if (field === undefined) return wanted.optional;
    return isAssignable(field, wanted);
  });
}

function every<T>(items: readonly T[], test: (item: T) => boolean | undefined): boolean | undefined {
  const results = items.map(test);
  if (results.includes(false)) return false;
  return results.includes(undefined) ? undefined : true;
}

function some<T>(items: readonly T[], test: (item: T) => boolean | undefined): boolean | undefined {
  const results = items.map(test);
  if (results.includes(true)) return true;
  return results.includes(undefined) ? undefined : false;
}

/** Returns the literals of a type; undefined if it has other values. */
export function literalsOf({ type, nullable, optional }: ReadType): readonly EnumValue[] | undefined {
  if (nullable || optional) return undefined;
  if (type.kind === 'boolean') return [true, false];
  return type.kind === 'enum' ? type.values : undefined;
}
