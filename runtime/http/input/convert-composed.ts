import { isLosslessNumber } from 'lossless-json';
import type { FieldDescriptor, FieldType, ItemDescriptor } from '../../domain/descriptor.js';
import { chooserOf } from '../../domain/union-type.js';
import type { Converter } from './converter.js';
import { Refusal } from './refusal.js';

/** Creates the converter of a type without parts. */
export type CompileLeaf = (type: FieldType) => Converter;

type Open = ReadonlyMap<string, Converter>;

interface Compiling {
  readonly leaf: CompileLeaf;
  /** Converters of the enclosing recursive types, by name. */
  readonly open: Open;
}

/** The refusal of a part of a value. */
class PartRefusal extends Refusal {
  readonly path: string;
  readonly cause: string;

  constructor(path: string, cause: string) {
    super(`is not valid at ${path}: it ${cause}`);
    this.path = path;
    this.cause = cause;
  }
}

/** Compiles the converter of a type made of others: a tuple, a record, a union or one that contains itself. */
export function compileComposed(type: FieldType, leaf: CompileLeaf): Converter {
  return compile(type, { leaf, open: new Map() });
}

function compile(type: FieldType, compiling: Compiling): Converter {
  switch (type.kind) {
    case 'list':
      return sequence([], { type: type.of, ...nullability(type) }, compiling);
    case 'tuple':
      return sequence(type.items, type.rest, compiling);
    case 'record':
      return record({ type: type.of, ...nullability(type) }, compiling);
    case 'object':
      return closedObject(type.fields, compiling);
    case 'union':
      return union(type, compiling);
    case 'recursive': {
      const again: Converter = (value) => convert(value);
      const open = new Map([...compiling.open, [type.name, again]]);
      const convert = compile(type.of, { ...compiling, open });
      return convert;
    }
    case 'again':
      return compiling.open.get(type.name) ?? (() => new Refusal('is not valid'));
    default:
      return compiling.leaf(type);
  }
}

function nullability({ nullable }: { readonly nullable?: true }): { readonly nullable?: true } {
  return nullable === true ? { nullable } : {};
}

type Part = Pick<ItemDescriptor, 'type' | 'nullable'>;

/** Converts a part that may be null; a refusal contains its path. */
function part({ type, nullable }: Part, compiling: Compiling): (value: unknown, path: string) => unknown {
  const convert = compile(type, compiling);
  return (value, path) => {
    if (value === null && nullable === true) return null;
    if (value === null && type.kind !== 'json') return new PartRefusal(path, 'must not be null');
    const converted = value === null ? null : convert(value);
    if (!(converted instanceof Refusal)) return converted;
    return converted instanceof PartRefusal
      ? new PartRefusal(
          `${path}${converted.path.startsWith('[') ? '' : '.'}${converted.path}`,
          converted.cause,
        )
      : new PartRefusal(path, converted.reason);
  };
}

function sequence(
  items: readonly ItemDescriptor[],
  rest: ItemDescriptor | undefined,
  compiling: Compiling,
): Converter {
  const parts = items.map((item) => part(item, compiling));
  const repeated = rest === undefined ? undefined : part(rest, compiling);
  const required = items.filter(({ optional }) => optional !== true).length;
  const count = required === items.length ? `${required}` : `${required} to ${items.length}`;
  return (value) => {
    if (!Array.isArray(value)) return new Refusal('must be a JSON array');
    if (value.length < required) return new Refusal(`must have at least ${required} items`);
    if (repeated === undefined && value.length > items.length) return new Refusal(`must have ${count} items`);
    const converted: unknown[] = value.map((item, index) => (parts[index] ?? repeated)?.(item, `[${index}]`));
    return converted.find((each) => each instanceof Refusal) ?? converted;
  };
}

function record(value: Part, compiling: Compiling): Converter {
  const convert = part(value, compiling);
  const key = compiling.leaf({ kind: 'string' });
  return (source) => {
    if (!isObject(source)) return new Refusal('must be a JSON object');
    const entries: [string, unknown][] = [];
    for (const [name, item] of Object.entries(source)) {
      const converted = key(name) instanceof Refusal ? key(name) : convert(item, name);
      if (converted instanceof Refusal) return converted;
      entries.push([name, converted]);
    }
    return Object.fromEntries(entries);
  };
}

/** Unknown fields are a mistake of the caller. */
function closedObject(fields: readonly FieldDescriptor[], compiling: Compiling): Converter {
  const parts = new Map(fields.map((field) => [field.name, part(field, compiling)]));
  return (source) => {
    if (!isObject(source)) return new Refusal('must be a JSON object');
    const entries: [string, unknown][] = [];
    for (const [name, item] of Object.entries(source)) {
      const convert = parts.get(name);
      if (convert === undefined) return new PartRefusal(name, 'is not a known field');
      const converted = convert(item, name);
      if (converted instanceof Refusal) return converted;
      entries.push([name, converted]);
    }
    const missing = fields.find(({ name, optional }) => optional !== true && !Object.hasOwn(source, name));
    return missing === undefined ? Object.fromEntries(entries) : new PartRefusal(missing.name, 'is required');
  };
}

function union(type: Extract<FieldType, { kind: 'union' }>, compiling: Compiling): Converter {
  const converters = type.of.map((member) => compile(member, compiling));
  const choose = chooserOf(type, converters, plainNumber);
  const refusal = new Refusal(`must be ${formsOf(type)}`);
  return (value) => {
    // Decimals and integers of 64 bits are texts that may be sent as numbers.
    const convert = choose(value) ?? (isLosslessNumber(value) ? choose('') : undefined);
    return convert === undefined ? refusal : convert(value);
  };
}

function formsOf({ of, discriminator }: Extract<FieldType, { kind: 'union' }>): string {
  const names = [...new Set(of.map((member) => (isObjectType(member) ? 'object' : member.kind)))];
  const forms = names.join(' or ');
  return discriminator === undefined ? forms : `${forms}, discriminated by its field ${discriminator}`;
}

function isObjectType(type: FieldType): boolean {
  return type.kind === 'object' || (type.kind === 'recursive' && isObjectType(type.of));
}

function plainNumber(value: unknown): unknown {
  return isLosslessNumber(value) ? Number(value.value) : value;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}
