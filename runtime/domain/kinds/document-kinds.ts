import { ValidationError } from '../../errors.js';
import type { FieldDescriptor, FieldType, ItemDescriptor } from '../descriptor.js';
import { shallow } from '../json-text.js';
import type { ValueRules } from '../value-rules.js';
import type { Compiling, FieldKind, JsonReader, JsonWriter, TypeOf } from './field-kind.js';
import { type Json, type JsonPart, membersOf, orNull } from './json-schema.js';
import { listOf, objectOf, refuse } from './json-values.js';

/** A list. `nullable`: items may be null. */
export const listKind: FieldKind<TypeOf<'list'>> = {
  writer: ({ of }, { part }) => {
    const write = part(of);
    // Not `map`, which leaves holes out.
    const writeAll = (value: readonly unknown[]): string[] =>
      Array.from(value, (item) => (item === null ? 'null' : write(item)));
    return (value) => `[${writeAll(value as readonly unknown[]).join(',')}]`;
  },
  reader: ({ of }, { part, name }) => {
    const read = part(of);
    return (json) => listOf(json, name).map((item) => (item === null ? null : read(item)));
  },
  jsonKind: () => 'array',
  parts: ({ of }) => [of],
  schema: ({ of, nullable }, { part }) => ({
    type: 'array',
    items: itemSchema({ type: of, nullable }, part),
  }),
  example: ({ of }, _, part) => (of.kind === 'again' ? [] : [part(of)]),
};

/** An object with any keys and values of one type. `nullable`: values may be null. */
export const recordKind: FieldKind<TypeOf<'record'>> = {
  writer: ({ of }, { part }) => {
    const write = part(of);
    return (value) => {
      const entries = Object.entries(value as object).filter(([, item]) => item !== undefined);
      const texts = entries.map(
        ([key, item]) => `${JSON.stringify(key)}:${item === null ? 'null' : write(item)}`,
      );
      return `{${texts.join(',')}}`;
    };
  },
  reader: ({ of }, { part }) => {
    const read = part(of);
    return (json) => {
      const entries = Object.entries(objectOf(json));
      // Keys are untrusted: `__proto__` must become an own property.
      const values = entries.map(([key, item]) => [key, item === null ? null : read(item)] as const);
      return Object.freeze(Object.fromEntries(values));
    };
  },
  jsonKind: () => 'object',
  parts: ({ of }) => [of],
  schema: ({ of, nullable }, { part }) => ({
    type: 'object',
    additionalProperties: itemSchema({ type: of, nullable }, part),
  }),
  example: ({ of }, _, part) => (of.kind === 'again' ? {} : { key: part(of) }),
};

export const tupleKind: FieldKind<TypeOf<'tuple'>> = {
  writer: ({ items, rest }, { part, name }) => {
    const writers = items.map(({ type }) => part(type));
    const writeRest = rest === undefined ? undefined : part(rest.type);
    return (value) => {
      const values = value as readonly unknown[];
      // Absent last elements have no place: as null, they would be read as null.
      const last = values.findLastIndex(
        (item, index) => item !== undefined || items[index]?.optional !== true,
      );
      const texts = values.slice(0, last + 1).map((item, index) => {
        if (item === undefined) return refuse(`${name}[${index}]`, 'a value: JSON has no absent items');
        const write = writers[index] ?? writeRest;
        return item === null || write === undefined ? 'null' : write(item);
      });
      return `[${texts.join(',')}]`;
    };
  },
  reader: ({ items, rest }, { part, name }) => {
    const readers = items.map(({ type }) => part(type));
    const readRest = rest === undefined ? undefined : part(rest.type);
    const required = requiredItems(items);
    return (json) => {
      const values = listOf(json, name);
      if (values.length < required || (readRest === undefined && values.length > items.length)) {
        return refuse(
          name,
          `a list of ${required === items.length ? required : `${required} to ${items.length}`} values`,
        );
      }
      return values.map((value, index) => {
        const read = readers[index] ?? readRest;
        return value === null || read === undefined ? null : read(value);
      });
    };
  },
  jsonKind: () => 'array',
  parts: ({ items, rest }) => [...items, ...(rest === undefined ? [] : [rest])].map(({ type }) => type),
  schema: ({ items, rest }, { part }) => ({
    type: 'array',
    prefixItems: items.map((item) => itemSchema(item, part)),
    minItems: requiredItems(items),
    ...(rest === undefined ? { maxItems: items.length } : { items: itemSchema(rest, part) }),
  }),
  example: ({ items }, _, part) => items.map(({ type }) => part(type)),
};

/** One of several types. */
export const unionKind: FieldKind<TypeOf<'union'>> = {
  writer: (type, { chooser, name }) => {
    const choose = chooser(type);
    return (value) => (choose(value) ?? refuseMember(name))(value);
  },
  reader: (type, { chooser, name }) => {
    const choose = chooser(type);
    return (json) => (choose(json) ?? refuse(name, 'a value of one of its types'))(json);
  },
  parts: ({ of }) => of,
  schema: ({ of, discriminator }, { named, variant, part }) => {
    if (discriminator === undefined) return { oneOf: of.map(part) };
    const mapping: [string, Json][] = [];
    const oneOf = of.map((member) => {
      const tags = tagsOf(member, discriminator);
      const schema =
        member.kind === 'object' && tags.length > 0
          ? (named(member) ?? variant(member, String(tags[0])))
          : part(member);
      for (const tag of tags) mapping.push([String(tag), schema['$ref'] ?? '']);
      return schema;
    });
    return { oneOf, discriminator: { propertyName: discriminator, mapping: membersOf(mapping) } };
  },
  example: ({ of }, _, part) => (of[0] === undefined ? {} : part(of[0])),
};

/** A type that contains itself. */
export const recursiveKind: FieldKind<TypeOf<'recursive'>> = {
  writer: (type, { recursive, name }) => {
    const write = recursive(type, (value) => write(value));
    return (value) => shallow(name, () => write(value));
  },
  reader: (type, { recursive }) => {
    const read = recursive(type, (json) => read(json));
    return read;
  },
  jsonKind: ({ of }, jsonKindOf) => jsonKindOf(of),
  parts: ({ of }) => [of],
  schema: (type, { recursive }) => recursive(type),
  example: ({ of }, _, part) => part(of),
};

/** A reference to the recursive type around it. */
export const againKind: FieldKind<TypeOf<'again'>> = {
  writer: ({ name }, { again }) => again(name) ?? refuseMember(name),
  reader: (type, { again, name }) => again(type.name) ?? refuse(name, `within ${type.name}`),
  jsonKind: () => 'object',
  schema: ({ name }, { again }) => again(name),
  example: () => ({}),
};

export const objectKind: FieldKind<TypeOf<'object'>> = {
  writer: ({ fields }, compiling) => objectWriter(fields, compiling) as JsonWriter<unknown>,
  reader: ({ fields }, compiling) => {
    const read = objectReader(fields, compiling);
    return (json) => Object.freeze(read(json));
  },
  jsonKind: () => 'object',
  parts: ({ fields }) => fields.map(({ type }) => type),
  schema: (type, { named, object }) => named(type) ?? object(type.fields),
  example: ({ fields }, _, part) => exampleFields(fields, part),
};

/** Writes an object with exactly these fields. Absent optional fields are left out. `owner`: names it in messages. */
export function objectWriter(
  fields: readonly FieldDescriptor[],
  { part }: Pick<Compiling<JsonWriter<unknown>>, 'part'>,
  owner?: string,
): JsonWriter<object> {
  const writers = fields.map((field) => ({
    name: field.name,
    key: `${JSON.stringify(field.name)}:`,
    write: part(field.type, field.name),
    // An absent field with such a name ("constructor") would otherwise be read from the prototype.
    mayBeInherited: field.name in Object.prototype,
  }));
  return (object) => {
    const values = object as Readonly<Record<string, unknown>>;
    let json = '';
    let at = '';
    try {
      for (const { name, key, write, mayBeInherited } of writers) {
        at = name;
        const value = mayBeInherited && !Object.hasOwn(values, name) ? undefined : values[name];
        if (value === undefined) continue;
        json += `${json === '' ? '' : ','}${key}${value === null ? 'null' : write(value)}`;
      }
    } catch (cause) {
      // Casts can pass values of other types, on which writers fail as they may.
      if (owner === undefined || !(cause instanceof TypeError)) throw cause;
      throw new ValidationError(`${at} of ${owner} has another type: ${cause.message}`, { field: at, cause });
    }
    return `{${json}}`;
  };
}

/** Reads an object with these fields. Unknown keys are ignored; an absent optional field stays absent. */
export function objectReader(
  fields: readonly FieldDescriptor[],
  { part }: Pick<Compiling<JsonReader<unknown>>, 'part'>,
): JsonReader<Readonly<Record<string, unknown>>> {
  const readers = fields.map((field) => ({ ...field, read: part(field.type, field.name) }));
  return (json) => {
    const source = objectOf(json);
    const values: Record<string, unknown> = {};
    for (const { name, optional, nullable, read } of readers) {
      const value = Object.hasOwn(source, name) ? source[name] : undefined;
      if (value === undefined) {
        if (optional !== true) throw new ValidationError(`${name} is missing`, { field: name });
      } else if (value === null && nullable === true) values[name] = null;
      else values[name] = read(value);
    }
    return values;
  };
}

/** An example object with these fields. */
export function exampleFields(
  fields: readonly FieldDescriptor[],
  part: (type: FieldType, name: string, rules?: ValueRules) => Json,
): JsonPart {
  return membersOf(
    fields.map(({ name, nullable, type, rules }) => [
      name,
      nullable === true ? null : part(type, name, rules),
    ]),
  );
}

function itemSchema(
  { type, nullable }: { readonly type: FieldType; readonly nullable?: true | undefined },
  part: (type: FieldType) => JsonPart,
): JsonPart {
  const schema = part(type);
  return nullable === true ? orNull(schema) : schema;
}

function requiredItems(items: readonly ItemDescriptor[]): number {
  return items.filter(({ optional }) => optional !== true).length;
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

function refuseMember(name: string): never {
  throw new ValidationError(`${name} matches none of its types`, { field: name });
}
