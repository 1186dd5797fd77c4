import type {
  FieldDescriptor,
  FieldType,
  ItemDescriptor,
  ObjectType,
} from '../../runtime/domain/descriptor.js';
import type { FieldSchema } from '../schema/type-schema.js';
import type { Emission } from './emission.js';
import type { FieldTypes } from './field-type.js';
import { at, Call, type Code, Members } from './print/code.js';
import type { Imports } from './print/imports.js';

/** Which facts of a field are emitted: `column` and `stored` omit documentation, `documented` includes everything. */
export type FieldUse = 'column' | 'documented' | 'stored';

/** How fields are printed. */
export interface FieldPrinting {
  /** Local name of the runtime's `t`. */
  readonly t: string;
  readonly use: FieldUse;
  readonly types: FieldTypes;
  /** Returns a variable that holds the type of a named object. Default: its fields are printed in place. */
  readonly variable?: (type: ObjectType) => Code;
}

/**
 * Returns the fields of a declaration for a file with these imports.
 *
 * @returns undefined if there are no fields
 */
export function declaredFieldsCode(
  fields: readonly FieldSchema[],
  use: FieldUse,
  { types }: Emission,
  imports: Imports,
): Members | undefined {
  if (fields.length === 0) return undefined;
  const printing = { t: imports.runtimeValue('t'), use, types };
  return fieldMapCode(
    fields.map((field) => types.field(field)),
    printing,
  );
}

/** Returns fields by name, as calls of `t`. */
export function fieldMapCode(fields: readonly FieldDescriptor[], printing: FieldPrinting): Members {
  return membersOf(fields, printing);
}

function membersOf(
  fields: readonly FieldDescriptor[],
  printing: FieldPrinting,
  options?: { readonly isShared: boolean },
): Members {
  return new Members(
    fields.map((field) => [field.name, fieldCode(field, printing)]),
    options,
  );
}

/** Returns a field without its name: `t.decimal(19, 4, { optional: true })`. */
export function fieldCode(field: FieldDescriptor, printing: FieldPrinting): Code {
  const options = optionsCode(field, printing.use);
  const { name, args } = typeCode(field.type, printing);
  const call = new Call(`${printing.t}.${name}`, options === undefined ? args : [...args, options]);
  const location = printing.types.locationOf(field);
  return location === undefined ? call : at(location, call);
}

function typeCode(
  type: FieldType,
  printing: FieldPrinting,
): { readonly name: string; readonly args: readonly Code[] } {
  switch (type.kind) {
    case 'decimal':
      return { name: 'decimal', args: [type.precision, type.scale] };
    case 'id':
      return { name: type.sharded ? 'shardedId' : 'id', args: [type.model] };
    case 'enum':
      return { name: 'enum', args: [type.values] };
    case 'list':
    case 'record':
      return { name: type.kind, args: [itemCode({ ...type, type: type.of }, printing)] };
    case 'tuple': {
      const items = type.items.map((item) => itemCode(item, printing));
      return type.rest === undefined
        ? { name: 'tuple', args: [items] }
        : { name: 'openTuple', args: [items, itemCode(type.rest, printing)] };
    }
    case 'union': {
      const members = type.of.map((member) => itemCode({ type: member }, printing));
      return type.discriminator === undefined
        ? { name: 'union', args: [members] }
        : { name: 'unionBy', args: [type.discriminator, members] };
    }
    case 'recursive':
      return { name: 'recursive', args: [type.name, itemCode({ type: type.of }, printing)] };
    case 'again':
      return type.tags === undefined
        ? { name: 'again', args: [type.name] }
        : { name: 'againBy', args: [type.name, type.tags] };
    case 'object': {
      const variable = type.name === undefined ? undefined : printing.variable?.(type);
      return { name: 'object', args: [variable ?? objectCode(type, printing)] };
    }
    default:
      return { name: type.kind, args: [] };
  }
}

/** Returns the fields of an object. Without variables, a named type has one shared code. */
function objectCode(type: ObjectType, printing: FieldPrinting): Members {
  const { t, use, variable } = printing;
  if (type.name === undefined || variable !== undefined) return fieldMapCode(type.fields, printing);
  const codes = sharedCodes.get(type) ?? new Map<string, Members>();
  sharedCodes.set(type, codes);
  const key = `${use} ${t}`;
  const code = codes.get(key) ?? membersOf(type.fields, printing, { isShared: true });
  codes.set(key, code);
  return code;
}

/** By use and local name of `t`. */
const sharedCodes = new WeakMap<ObjectType, Map<string, Members>>();

/** Returns an item, value or member: a type that may be null or absent. */
function itemCode({ type, nullable, optional }: ItemDescriptor, printing: FieldPrinting): Code {
  const { name, args } = typeCode(type, printing);
  const options = nullable === undefined && optional === undefined ? [] : [{ nullable, optional }];
  return new Call(`${printing.t}.${name}`, [...args, ...options]);
}

interface Options {
  readonly [key: string]: Code | undefined;
}

function optionsCode(field: FieldDescriptor, use: FieldUse): Options | undefined {
  // Most fields have a name and a type only.
  if (Object.keys(field).length === 2) return undefined;
  const options = optionsFor(field, use);
  return Object.values(options).every((value) => value === undefined) ? undefined : options;
}

function optionsFor(field: FieldDescriptor, use: FieldUse): Options {
  const { optional, nullable, secret, rules, default: absent, label, doc } = field;
  const allowed = { optional, nullable };
  if (use === 'stored') return { ...allowed, secret };
  if (use === 'column') return { ...allowed, ...rules, label };
  // A field with a default is optional.
  return {
    optional: absent === undefined ? optional : undefined,
    ...{ nullable, secret, ...rules },
    ...{ default: absent, label, doc },
  };
}
