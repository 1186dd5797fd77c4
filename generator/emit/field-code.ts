import type {
  FieldDescriptor,
  FieldType,
  ItemDescriptor,
  ObjectType,
} from '../../runtime/domain/descriptor.js';
import type { FieldSchema } from '../schema/type-schema.js';
import type { FileScope } from './file-scope.js';
import { type Literal, literal, propertyKey } from './print/literal.js';

/** Which facts of a field are emitted: `column` and `stored` omit documentation, `documented` includes everything. */
export type FieldUse = 'column' | 'documented' | 'stored';

/** View of `partials/field.hbs`: a field as a call of `t`. */
export interface FieldView {
  /** Key of its property. */
  readonly name: string;
  /** The call of a member of `t`: `decimal(19, 4)`. If there are members, its text before them: `list(t.object({`. */
  readonly type: string;
  /** Fields of an object, one per line; empty for other types. */
  readonly members: readonly FieldView[];
  /** Text of the call after the members, or ''. */
  readonly end: string;
}

/** How fields are printed. */
export interface FieldPrinting {
  readonly scope: FileScope;
  readonly use: FieldUse;
  /** Returns a variable that holds the type of a named object. Default: its fields are printed in place. */
  readonly variable?: (type: ObjectType) => string;
}

/** Returns the views of a declaration's fields. */
export function declaredFields(
  fields: readonly FieldSchema[],
  printing: FieldPrinting,
): readonly FieldView[] {
  return fieldViews(
    fields.map((field) => printing.scope.emission.types.field(field)),
    printing,
  );
}

/** Returns the views of fields. */
export function fieldViews(
  fields: readonly FieldDescriptor[],
  printing: FieldPrinting,
): readonly FieldView[] {
  if (fields.length > 0) printing.scope.runtimeValue('t');
  return fields.map((field) => {
    const block = blockOf(field.type, optionsText(field, printing.use), printing);
    const type = block?.start ?? fieldCall(field, printing);
    const location = printing.scope.emission.types.locationOf(field);
    return {
      name: propertyKey(field.name),
      type: location === undefined ? type : printing.scope.at(location, type),
      members: block === undefined ? [] : fieldViews(block.fields, printing),
      end: block?.end ?? '',
    };
  });
}

/** Returns a field without its name, as a call of a member of `t`: `decimal(19, 4, { optional: true })`. */
export function fieldCall(field: FieldDescriptor, printing: FieldPrinting): string {
  printing.scope.runtimeValue('t');
  return callText(field.type, optionsText(field, printing.use), printing);
}

interface Block {
  readonly start: string;
  readonly fields: readonly FieldDescriptor[];
  readonly end: string;
}

/** Returns the parts of a type with an object in it whose fields have lines of their own. */
function blockOf(type: FieldType, options: string, printing: FieldPrinting): Block | undefined {
  switch (type.kind) {
    case 'object':
      if (type.fields.length === 0 || isVariable(type, printing)) return undefined;
      return { start: 'object({', fields: type.fields, end: `}${afterOthers(options)})` };
    case 'list':
    case 'record': {
      const inner = blockOf(type.of, itemOptions(type), printing);
      return (
        inner && {
          ...inner,
          start: `${type.kind}(t.${inner.start}`,
          end: `${inner.end}${afterOthers(options)})`,
        }
      );
    }
    default:
      return undefined;
  }
}

function isVariable(type: ObjectType, { variable }: FieldPrinting): boolean {
  return type.name !== undefined && variable !== undefined;
}

function callText(type: FieldType, options: string, printing: FieldPrinting): string {
  const { name, args } = call(type, printing);
  return `${name}(${[...args, ...(options === '' ? [] : [options])].join(', ')})`;
}

function call(
  type: FieldType,
  printing: FieldPrinting,
): { readonly name: string; readonly args: readonly string[] } {
  const item = (descriptor: ItemDescriptor): string =>
    `t.${callText(descriptor.type, itemOptions(descriptor), printing)}`;
  const list = (items: readonly string[]): string => `[${items.join(', ')}]`;
  switch (type.kind) {
    case 'decimal':
      return { name: 'decimal', args: [`${type.precision}`, `${type.scale}`] };
    case 'id':
      return { name: type.sharded ? 'shardedId' : 'id', args: [literal(type.model)] };
    case 'enum':
      return { name: 'enum', args: [literal(type.values)] };
    case 'list':
    case 'record':
      return { name: type.kind, args: [item({ ...type, type: type.of })] };
    case 'tuple': {
      const items = list(type.items.map(item));
      return type.rest === undefined
        ? { name: 'tuple', args: [items] }
        : { name: 'openTuple', args: [items, item(type.rest)] };
    }
    case 'union': {
      const members = list(type.of.map((member) => item({ type: member })));
      return type.discriminator === undefined
        ? { name: 'union', args: [members] }
        : { name: 'unionBy', args: [literal(type.discriminator), members] };
    }
    case 'recursive':
      return { name: 'recursive', args: [literal(type.name), item({ type: type.of })] };
    case 'again':
      return type.tags === undefined
        ? { name: 'again', args: [literal(type.name)] }
        : { name: 'againBy', args: [literal(type.name), literal(type.tags)] };
    case 'object':
      return { name: 'object', args: [objectText(type, printing)] };
    default:
      return { name: type.kind, args: [] };
  }
}

function objectText(type: ObjectType, printing: FieldPrinting): string {
  if (type.name !== undefined && printing.variable !== undefined) return printing.variable(type);
  const members = type.fields.map((field) => `${propertyKey(field.name)}: t.${fieldCall(field, printing)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

function itemOptions({ nullable, optional }: { readonly nullable?: true; readonly optional?: true }): string {
  return nullable === undefined && optional === undefined ? '' : literal({ nullable, optional });
}

function afterOthers(options: string): string {
  return options === '' ? '' : `, ${options}`;
}

function optionsText(field: FieldDescriptor, use: FieldUse): string {
  // Most fields have a name and a type only.
  if (Object.keys(field).length === 2) return '';
  const text = literal(optionsFor(field, use));
  return text === '{}' ? '' : text;
}

function optionsFor(field: FieldDescriptor, use: FieldUse): Literal {
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
