import type { TypeSchema } from '../../schema/type-schema.js';
import { type ReadType, withPartTags } from './type-results.js';

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
