import type { EnumValue, FieldSchema, TypeSchema } from '../../schema/type-schema.js';
import { ts } from '../compiler.js';
import { locationOf } from '../source-files.js';
import { typeOfValue } from './constants.js';
import { type Bound, type Reading, readBound, type Shape } from './reading.js';
import { hasAnyAgain, unrolled } from './recursion.js';
import { isAssignable, literalsOf, membersOf, NEVER, unite } from './relations.js';
import { mergeFields, plain, type ReadType, recursive, unsupported } from './type-results.js';
import { recordOf, remaining } from './utilities.js';

const VALUE_HINT =
  "Declare the value as a constant in a file of this project: `export const STATES = ['OPEN', 'DONE'] as const;`.";

/** Reads `typeof X`. */
export function readTypeQuery(reading: Reading, node: ts.TypeQueryNode): ReadType {
  const name = node.exprName.getText();
  return typeOfValue(reading, node.getSourceFile(), name) ?? unsupported(node, VALUE_HINT);
}

/** Reads `keyof T`. */
export function readKeyOf(reading: Reading, operand: ts.TypeNode, node: ts.TypeNode): ReadType {
  const type = unrolled(reading.read({ ...reading, shape: 'fields' }, operand).type);
  if (type.kind === 'record') return plain({ kind: 'string' });
  if (type.kind !== 'object') return type.kind === 'unsupported' ? plain(type) : unsupported(node);
  return plain({ kind: 'enum', values: type.fields.map(({ name }) => name) });
}

/** Reads `T[K]`. */
export function readIndexedAccess(reading: Reading, node: ts.IndexedAccessTypeNode): ReadType {
  const index = reading.read({ ...reading, shape: 'value' }, node.indexType);
  const names = literalsOf(index);
  const shape: Shape = names === undefined ? 'fields' : new Set(names.map(String));
  const owner = unrolled(reading.read({ ...reading, shape }, node.objectType).type);
  if (owner.kind === 'unsupported') return plain(owner);
  const found = names?.map((name) => memberAt(owner, name)) ?? [elements(owner, index.type)];
  const known = found.filter((each) => each !== undefined);
  return known.length < found.length || known.length === 0 ? unsupported(node, VALUE_HINT) : unite(known);
}

function memberAt(owner: TypeSchema, name: EnumValue): ReadType | undefined {
  switch (owner.kind) {
    case 'union': {
      const found = owner.of.map((member) => memberAt(member, name));
      const known = found.filter((each) => each !== undefined);
      return known.length < found.length ? undefined : unite(known);
    }
    case 'object':
      return owner.fields.find((field) => field.name === String(name));
    case 'tuple': {
      if (name === 'length' && owner.rest === undefined) {
        return plain({ kind: 'enum', values: [owner.items.length] });
      }
      const item = owner.items[Number(name)] ?? owner.rest;
      return item === undefined ? undefined : readItem(item);
    }
    case 'list':
      return typeof name === 'number' ? readItem({ ...owner, type: owner.of }) : undefined;
    case 'record':
      return readItem({ ...owner, type: owner.of });
    default:
      return undefined;
  }
}

function readItem(item: {
  readonly type: TypeSchema;
  readonly nullable?: true;
  readonly optional?: true;
}): ReadType {
  return { type: item.type, nullable: item.nullable === true, optional: item.optional === true };
}

function elements(owner: TypeSchema, index: TypeSchema): ReadType | undefined {
  if (index.kind === 'number' && owner.kind === 'list') return memberAt(owner, 0);
  if (index.kind === 'string' && owner.kind === 'record') return memberAt(owner, '');
  if (index.kind === 'string' && owner.kind === 'json') return plain(owner);
  if (index.kind !== 'number' || owner.kind !== 'tuple') return undefined;
  const items = [...owner.items, ...(owner.rest === undefined ? [] : [owner.rest])];
  return items.length === 0 ? undefined : unite(items.map(readItem));
}

/** Reads `` `${A}-${B}` `` of closed sets. */
export function readTemplate(reading: Reading, node: ts.TemplateLiteralTypeNode): ReadType {
  let texts: readonly string[] = [node.head.text];
  for (const { type, literal } of node.templateSpans) {
    const values = literalsOf(reading.read(reading, type));
    if (values === undefined || texts.length * values.length > MOST_TEXTS)
      return unsupported(node, TEMPLATE_HINT);
    texts = texts.flatMap((text) => values.map((value) => `${text}${value}${literal.text}`));
  }
  return plain({ kind: 'enum', values: [...new Set(texts)] });
}

const MOST_TEXTS = 1_000;
const TEMPLATE_HINT =
  'Use only unions of literals in it, or a string with a pattern: `/** @pattern ^order-.*$ */ readonly code: string;`.';

/** Reads `{ [K in Keys]: T }`. */
export function readMapped(reading: Reading, node: ts.MappedTypeNode): ReadType {
  const { typeParameter, nameType, type: value, questionToken } = node;
  const keys = typeParameter.constraint;
  if (keys === undefined || value === undefined) return unsupported(node);
  const mapped = mappedType(reading, keys);
  if (mapped !== undefined && mapped.kind !== 'object') return readMappedOver(reading, node, mapped);
  const sources = mapped?.fields;
  const key = reading.read({ ...reading, shape: 'value' }, keys);
  const inner = (name: EnumValue | undefined): Reading => {
    const type: TypeSchema = name === undefined ? { kind: 'string' } : { kind: 'enum', values: [name] };
    const bound: Bound = { kind: 'computed', type: plain(type) };
    return {
      ...reading,
      shape: 'value',
      scope: new Map([...reading.scope, [typeParameter.name.text, bound]]),
    };
  };
  const names = literalsOf(key);
  if (names === undefined) return recordOf(key, () => reading.read(inner(undefined), value), node);
  const renamed = (name: EnumValue): readonly EnumValue[] =>
    nameType === undefined ? [name] : (literalsOf(reading.read(inner(name), nameType)) ?? []);
  const fields = names.flatMap((name) =>
    renamed(name).map((target): FieldSchema => {
      const read = reading.read(inner(name), value);
      const source = sources?.find((field) => field.name === String(name));
      const added = questionToken?.kind;
      const wasOptional = source?.optional === true || read.optional;
      const optional = added === ts.SyntaxKind.MinusToken ? false : added !== undefined || wasOptional;
      return {
        ...fieldBase(node, source),
        name: String(target),
        type: read.type,
        nullable: read.nullable,
        optional,
      };
    }),
  );
  return plain({ kind: 'object', fields: mergeFields(fields) });
}

function fieldBase(
  node: ts.Node,
  source: FieldSchema | undefined,
): Pick<FieldSchema, 'tags' | 'location' | 'description'> {
  if (source !== undefined) {
    const { tags, location, description } = source;
    return { tags, location, ...(description === undefined ? {} : { description }) };
  }
  return { tags: [], location: locationOf(node) };
}

/** Returns `T` of `[K in keyof T]`. Its modifiers and comments are kept. */
function mappedType(reading: Reading, keys: ts.TypeNode): TypeSchema | undefined {
  if (!ts.isTypeOperatorNode(keys) || keys.operator !== ts.SyntaxKind.KeyOfKeyword) return undefined;
  return unrolled(reading.read({ ...reading, shape: 'fields' }, keys.type).type);
}

/** Maps each item of a list. A type without fields of its own stays unchanged. */
function readMappedOver(reading: Reading, node: ts.MappedTypeNode, over: TypeSchema): ReadType {
  const { typeParameter, type: value } = node;
  const index: TypeSchema = { kind: over.kind === 'list' ? 'number' : 'string' };
  const isAnyJson = over.kind === 'json' && over.brand === undefined;
  if (value === undefined || (over.kind !== 'list' && over.kind !== 'record' && !isAnyJson))
    return plain(over);
  const bound: Bound = { kind: 'computed', type: plain(index) };
  const scope = new Map([...reading.scope, [typeParameter.name.text, bound]]);
  const { type, nullable } = reading.read({ ...reading, shape: 'value', scope }, value);
  // `JsonValue` contains itself, so a mapped type with a new type at each level is infinite for the compiler.
  if (isAnyJson) return hasAnyAgain(type) ? recursive(node) : plain(over);
  if (type.kind === 'unsupported') return plain(type);
  return plain({ kind: over.kind, of: type, ...(nullable ? { nullable: true } : {}) });
}

/** Reads `T extends U ? X : Y`: for each member of a union if `T` is a type parameter. */
export function readConditional(reading: Reading, node: ts.ConditionalTypeNode): ReadType {
  const { checkType } = node;
  const name =
    ts.isTypeReferenceNode(checkType) && ts.isIdentifier(checkType.typeName) ? checkType.typeName.text : '';
  const bound = reading.scope.get(name);
  const { shape } = reading;
  const inner: Reading = { ...reading, shape: 'value' };
  if (bound === undefined) return branch(reading, inner.read(inner, checkType), node, reading.scope);
  const whole = readBound(inner, bound);
  const members = membersOf(whole);
  if (members.length === 0) return NEVER;
  return remaining(
    members
      .map((member) => {
        const scope = new Map([...reading.scope, [name, { kind: 'computed', type: member } as const]]);
        return branch({ ...reading, shape }, member, node, scope);
      })
      .filter((each) => !(each.type.kind === 'enum' && each.type.values.length === 0)),
  );
}

function branch(
  reading: Reading,
  checked: ReadType,
  { extendsType, trueType, falseType }: ts.ConditionalTypeNode,
  scope: Reading['scope'],
): ReadType {
  const captured = new Map<string, Bound>();
  const isTrue = matches({ ...reading, scope, shape: 'value' }, checked, extendsType, captured);
  if (isTrue === undefined) return unsupported(extendsType);
  if (!isTrue) return reading.read({ ...reading, scope }, falseType);
  return reading.read({ ...reading, scope: new Map([...scope, ...captured]) }, trueType);
}

/** Whether a type matches a form, in which `infer` names parts of it. @returns undefined if unknown */
function matches(
  reading: Reading,
  checked: ReadType,
  form: ts.TypeNode,
  captured: Map<string, Bound>,
): boolean | undefined {
  if (ts.isParenthesizedTypeNode(form)) return matches(reading, checked, form.type, captured);
  if (ts.isInferTypeNode(form)) {
    captured.set(form.typeParameter.name.text, { kind: 'computed', type: checked });
    return true;
  }
  if (form.kind === ts.SyntaxKind.ObjectKeyword) return isNoPrimitive(checked);
  if (form.kind === ts.SyntaxKind.AnyKeyword || form.kind === ts.SyntaxKind.UnknownKeyword) return true;
  // No data type is a function.
  if (ts.isFunctionTypeNode(form)) return checked.type.kind === 'unsupported' ? undefined : false;
  const element = listElement(form);
  if (element === undefined || !form.getText().includes('infer ')) {
    return isAssignable(checked, reading.read(reading, form));
  }
  const item = elements(checked.type, { kind: 'number' });
  return item === undefined ? false : matches(reading, item, element, captured);
}

/** Whether a type is assignable to `object`; undefined if unknown. */
function isNoPrimitive({ type, nullable, optional }: ReadType): boolean | undefined {
  if (nullable || optional) return false;
  switch (type.kind) {
    case 'unsupported':
    case 'json':
    case 'union':
      return undefined;
    case 'string':
    case 'number':
    case 'bigint':
    case 'boolean':
    case 'uuid':
    case 'currency':
    case 'enum':
    case 'void':
      return false;
    default:
      return true;
  }
}

/** Returns `T` of `T[]`, `readonly T[]`, `Array<T>` and `ReadonlyArray<T>`. */
function listElement(node: ts.TypeNode): ts.TypeNode | undefined {
  if (ts.isArrayTypeNode(node)) return node.elementType;
  if (ts.isTypeOperatorNode(node)) return listElement(node.type);
  if (!ts.isTypeReferenceNode(node)) return undefined;
  const isList = /^(Readonly)?Array$/.test(node.typeName.getText());
  return isList ? node.typeArguments?.[0] : undefined;
}
