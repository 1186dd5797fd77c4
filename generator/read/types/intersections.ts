import type { FieldSchema, TypeSchema } from '../../schema/type-schema.js';
import { ts } from '../compiler.js';
import { propertyName } from '../read-literal.js';
import type { Reading } from './reading.js';
import { unrolled } from './recursion.js';
import { isAssignable, unite } from './relations.js';
import { plain, type ReadType, unsupported } from './type-results.js';

/**
 * Reads `A & B`. Objects are merged, once for each member of a union of objects. Beside a primitive type, an object is
 * a brand. Beside literals, a primitive type removes the literals that it does not allow: `keyof T & string`.
 */
export function readIntersection(reading: Reading, node: ts.IntersectionTypeNode): ReadType {
  let objects: readonly (readonly FieldSchema[])[] = [[]];
  let literals: Literals | undefined;
  for (const each of node.types) {
    const { type } = ts.isTypeLiteralNode(each) && isBrand(each) ? BRAND : reading.read(reading, each);
    if (PRIMITIVES.has(type.kind)) return literals === undefined ? branded(type) : taken(literals, type);
    if (type.kind === 'unsupported') return plain(type);
    if (type.kind === 'enum') {
      literals = literals === undefined ? type : common(literals, type);
      continue;
    }
    const members = (type.kind === 'union' ? type.of : [type]).map(fieldsOf);
    if (members.length * objects.length > MOST_MEMBERS) return unsupported(node);
    if (!members.every((member) => member !== undefined)) return unsupported(node);
    objects = objects.flatMap((fields) => members.map((member) => [...fields, ...member]));
  }
  if (literals === undefined) {
    const members = objects.map(crossed);
    if (!members.every((fields) => fields !== undefined)) return unsupported(node, CROSSED_HINT);
    return unite(members.map((fields) => plain({ kind: 'object', fields })));
  }
  return objects.some((fields) => fields.length > 0) ? unsupported(node) : plain(literals);
}

const CROSSED_HINT =
  "Both sides have a field with different types. Remove it from one side: `Omit<Address, 'zip'> & { readonly zip: string }`.";

/**
 * Merges fields. A field that several sides declare has all their types. @returns undefined if no single type expresses
 * that
 */
function crossed(fields: readonly FieldSchema[]): readonly FieldSchema[] | undefined {
  const byName = new Map<string, FieldSchema>();
  for (const field of fields) {
    const other = byName.get(field.name);
    const both = other === undefined ? field : bothOf(other, field);
    if (both === undefined) return undefined;
    byName.set(field.name, both);
  }
  return [...byName.values()];
}

function bothOf(one: FieldSchema, other: FieldSchema): FieldSchema | undefined {
  const [first, second] = [plain(one.type), plain(other.type)];
  const allowed = {
    optional: one.optional && other.optional,
    nullable: one.nullable && other.nullable,
  };
  // If both types are the same, the last one counts, with its comment.
  if (other.type.kind === 'unsupported' || isAssignable(second, first) === true)
    return { ...other, ...allowed };
  if (one.type.kind === 'unsupported' || isAssignable(first, second) === true) return { ...one, ...allowed };
  if (one.type.kind !== 'object' || other.type.kind !== 'object') return undefined;
  const fields = crossed([...one.type.fields, ...other.type.fields]);
  return fields === undefined ? undefined : { ...other, ...allowed, type: { kind: 'object', fields } };
}

/** Maximum members of the resulting union. */
const MOST_MEMBERS = 100;

const PRIMITIVES: ReadonlySet<TypeSchema['kind']> = new Set([
  'string',
  'number',
  'bigint',
  'boolean',
  'uuid',
  'decimal',
  'instant',
  'currency',
]);

const BRAND = plain({ kind: 'object', fields: [] });

/** Whether a type literal is a brand: a property with a computed name, `[brand]`, exists only for the compiler. */
function isBrand({ members }: ts.TypeLiteralNode): boolean {
  return members.some(
    ({ name }) => name !== undefined && ts.isComputedPropertyName(name) && propertyName(name) === undefined,
  );
}

function fieldsOf(type: TypeSchema): readonly FieldSchema[] | undefined {
  const whole = unrolled(type);
  return whole.kind === 'object' ? whole.fields : undefined;
}

type Literals = Extract<TypeSchema, { kind: 'enum' }>;

function common(some: Literals, others: Literals): Literals {
  return { kind: 'enum', values: some.values.filter((value) => others.values.includes(value)) };
}

function taken(literals: Literals, { kind }: TypeSchema): ReadType {
  const values = literals.values.filter((value) => typeof value === kind);
  return plain(values.length === literals.values.length ? literals : { kind: 'enum', values });
}

function branded(type: TypeSchema): ReadType {
  switch (type.kind) {
    case 'string':
    case 'number':
    case 'bigint':
    case 'boolean':
    case 'uuid':
    case 'decimal':
    case 'instant':
    case 'currency':
      return plain({ kind: type.kind, brand: {} });
    default:
      return plain(type);
  }
}
