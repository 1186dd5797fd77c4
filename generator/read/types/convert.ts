import type { FieldSchema, ItemSchema } from '../../schema/type-schema.js';
import { ts } from '../compiler.js';
import { type FieldNode, isMarked } from '../field-form.js';
import { declarationIn } from '../module-names.js';
import { readDoc } from '../read-doc.js';
import { abbreviate, propertyName } from '../read-literal.js';
import type { Declaration } from '../resolver.js';
import { locationOf } from '../source-files.js';
import { hasKeyword } from '../syntax.js';
import { isField, readField, splitTags, withTags } from './fields.js';
import { HINTS } from './hints.js';
import { frameworkType, libraryType } from './known-types.js';
import type { Asking, Reading } from './reading.js';
import { enclose } from './recursion.js';
import { keywordKey, SourceOrder } from './source-order.js';
import { selectedMember, tagsOfBases, tagsOfParts } from './tags-of-parts.js';
import {
  KEYWORDS,
  listOf,
  NEVER,
  notPlain,
  plain,
  type ReadType,
  unite,
  unsupported,
  withPartTags,
} from './type-results.js';

function startAsking(
  reading: Reading,
  checker: ts.TypeChecker,
  node: ts.Node,
  source: ts.Node = node,
): Asking {
  return { reading, checker, node, order: new SourceOrder(checker, source) };
}

/** Asks the checker for the type of a node. @returns undefined if the node names something that is not declared */
export function askForType(reading: Reading, node: ts.TypeNode): ReadType | undefined {
  const checker = reading.context.checker.of(node.getSourceFile());
  const type = checker.getTypeFromTypeNode(node);
  if (isErrorType(type)) return undefined;
  const asking = startAsking(reading, checker, node);
  const member = ts.isIndexedAccessTypeNode(node) ? selectedMember(checker, node) : undefined;
  const tags = tagsOfParts(reading.context, node);
  if (member !== undefined) return withPartTags(convertProperty(asking, member), tags);
  const declaration = declarationOf(asking, type);
  const isOpen = declaration !== undefined && declaration === aliasOf(node);
  const read = isOpen ? convertOpen(asking, type) : convert(asking, type);
  return withPartTags(read, tags);
}

/** Asks the checker for the structure of an interface or an enum, which is being read. */
export function askForDeclared(
  reading: Reading,
  declaration: ts.InterfaceDeclaration | ts.EnumDeclaration,
  node: ts.Node,
): ReadType {
  const checker = reading.context.checker.of(declaration.getSourceFile());
  const type = checker.getTypeAtLocation(declaration.name);
  const clauses = (type.getSymbol()?.declarations ?? [])
    .flatMap((each) => (ts.isInterfaceDeclaration(each) ? (each.heritageClauses ?? []) : []))
    .flatMap(({ types }) => types);
  // The checker leaves out a base that is not declared, or that is the interface itself.
  if (clauses.length > (type.getBaseTypes()?.length ?? 0)) return unsupported(node, HINTS.base);
  // The usage may be in a file that the checker does not know.
  const read = convertOpen(startAsking(reading, checker, node, declaration), type);
  return withPartTags(
    read,
    clauses.flatMap((clause) => tagsOfParts(reading.context, clause)),
  );
}

/** Asks the checker for a field of a class, whose base class declares it. */
export function askForMember(
  reading: Reading,
  leaf: ts.ClassDeclaration,
  { name }: FieldNode,
): ReadType | undefined {
  const checker = reading.context.checker.of(leaf.getSourceFile());
  const property = checker.getPropertyOfType(checker.getTypeAtLocation(leaf), propertyName(name) ?? '');
  if (property === undefined) return undefined;
  const read = convert(startAsking(reading, checker, name), checker.getTypeOfSymbol(property));
  return withPartTags(read, tagsOfBases(reading.context, leaf));
}

/** Asks the checker for a type argument of the class of this package that a class extends. */
export function askForArgument(
  reading: Reading,
  leaf: ts.ClassDeclaration,
  { index, node }: { readonly index: number; readonly node: ts.TypeNode },
): ReadType {
  const checker = reading.context.checker.of(leaf.getSourceFile());
  const all = checker.getPropertyOfType(checker.getTypeAtLocation(leaf), 'typeArguments');
  const argument = all && checker.getTypeArguments(checker.getTypeOfSymbol(all) as ts.TypeReference)[index];
  if (argument === undefined) return unsupported(node);
  const tags = [...tagsOfParts(reading.context, node), ...tagsOfBases(reading.context, leaf)];
  return withPartTags(convert(startAsking(reading, checker, node), argument), tags);
}

/** Converts a type, unless the source declares it by a name: then it is read there. */
export function convert(asking: Asking, type: ts.Type): ReadType {
  const { checker, reading, node } = asking;
  const declaration = declarationOf(asking, type);
  if (declaration !== undefined) return reading.readDeclared(reading, declaration, node);
  const symbol = type.aliasSymbol ?? type.getSymbol();
  const isNamed = symbol !== undefined && (symbol === type.aliasSymbol || (symbol.flags & NAMED) !== 0);
  const isLibrary = symbol?.declarations?.some((each) => reading.context.checker.isLibrary(each)) === true;
  const isDeclared = isNamed && !isLibrary;
  // A list is what its items are.
  const isList = checker.isArrayType(type) || checker.isTupleType(type);
  if (!isDeclared && (isList || (type.flags & COMPOSED) === 0)) return convertOpen(asking, type);
  const name = isDeclared ? symbol.name : nameOfComposed(type);
  return enclose(reading, { key: type, name, node, isClass: false, isComposed: !isDeclared }, (inner) =>
    convertOpen({ ...asking, reading: inner }, type),
  );
}

/** Returns a name for a type that the source composes of others: `PartialAddress` for `Partial<Address>`. */
function nameOfComposed({ aliasSymbol, aliasTypeArguments: [argument] = [] }: ts.Type): string {
  const part = argument?.aliasSymbol ?? argument?.getSymbol();
  const isNamed = part !== undefined && !part.name.startsWith('__');
  return aliasSymbol === undefined ? 'Nested' : `${aliasSymbol.name}${isNamed ? part.name : ''}`;
}

/** Returns the alias that a node is the whole body of. It is being read, and the node's type has its name. */
function aliasOf({ parent }: ts.Node): ts.Node | undefined {
  if (ts.isParenthesizedTypeNode(parent) || ts.isTypeOperatorNode(parent)) return aliasOf(parent);
  return ts.isTypeAliasDeclaration(parent) ? parent : undefined;
}

/** Returns the source's declaration of a type without type arguments: its name, comments and order are read there. */
function declarationOf({ reading, checker }: Asking, type: ts.Type): Declaration | undefined {
  const { aliasSymbol, aliasTypeArguments } = type;
  if (aliasSymbol !== undefined)
    return aliasTypeArguments === undefined ? topLevel(reading, aliasSymbol) : undefined;
  const symbol = type.getSymbol();
  const isNamed = symbol !== undefined && (symbol.flags & NAMED) !== 0;
  return isNamed && checker.getDeclaredTypeOfSymbol(symbol) === type && !isGeneric(type)
    ? topLevel(reading, symbol)
    : undefined;
}

const NAMED = ts.SymbolFlags.Interface | ts.SymbolFlags.Class | ts.SymbolFlags.Enum;

function isGeneric(type: ts.Type): boolean {
  return 'typeParameters' in type && type.typeParameters !== undefined;
}

function topLevel({ context }: Reading, symbol: ts.Symbol): Declaration | undefined {
  const [first] = symbol.declarations ?? [];
  if (first === undefined || !context.checker.isOwn(first)) return undefined;
  const found = declarationIn(first.getSourceFile(), symbol.name);
  return found !== undefined && symbol.declarations?.includes(found) ? found : undefined;
}

/** Converts a type by its structure. */
function convertOpen(asking: Asking, type: ts.Type): ReadType {
  const { reading, node } = asking;
  reading.budget.left -= 1;
  if (reading.budget.left < 0) return unsupported(node, HINTS.tooLarge);
  const known = frameworkType(asking, type, convert);
  if (known !== undefined) return known;
  if (type.isUnion())
    return (type.flags & ts.TypeFlags.EnumLiteral) === 0
      ? convertUnion(asking, type.types)
      : unite(type.types.map((each) => convertPrimitive(node, each) ?? unsupported(node, HINTS.enum)));
  const primitive = convertPrimitive(node, type);
  if (primitive !== undefined) return primitive;
  if (type.isIntersection()) {
    const base = type.types.find((each) => isScalar(asking, each));
    if (base !== undefined) return branded(convertOpen(asking, base));
  }
  return libraryType(asking, type) ?? convertObject(asking, type);
}

const COMPOSED = ts.TypeFlags.Object | ts.TypeFlags.Intersection;
const PRIMITIVE =
  ts.TypeFlags.StringLike | ts.TypeFlags.NumberLike | ts.TypeFlags.BigIntLike | ts.TypeFlags.BooleanLike;

function isScalar(asking: Asking, type: ts.Type): boolean {
  if ((type.flags & PRIMITIVE) !== 0) return true;
  const kind = (frameworkType(asking, type, convert) ?? libraryType(asking, type))?.type.kind;
  return kind === 'decimal' || kind === 'instant' || kind === 'id';
}

/** The keyword that names a type: `string`, `true`. */
function keywordOf(type: ts.Type): string | undefined {
  return 'intrinsicName' in type ? String(type.intrinsicName) : undefined;
}

function isErrorType(type: ts.Type): boolean {
  return keywordOf(type) === 'error';
}

function branded(read: ReadType): ReadType {
  const { type } = read;
  switch (type.kind) {
    case 'string':
    case 'number':
    case 'bigint':
    case 'boolean':
    case 'decimal':
    case 'instant':
      return plain({ kind: type.kind, brand: {} });
    default:
      return read;
  }
}

function convertPrimitive(node: ts.Node, type: ts.Type): ReadType | undefined {
  const { flags } = type;
  if (type.isStringLiteral() || type.isNumberLiteral()) return plain({ kind: 'enum', values: [type.value] });
  const keyword = KEYWORDS.get(keywordOf(type));
  if (keyword !== undefined) return keyword;
  if (flags & ts.TypeFlags.Enum) return unsupported(node, HINTS.enum);
  if (flags & ts.TypeFlags.Any) return unsupported(node, isErrorType(type) ? undefined : HINTS.any);
  if (flags & ts.TypeFlags.NonPrimitive) return unsupported(node, HINTS.object);
  if (flags & ts.TypeFlags.ESSymbolLike) return notPlain(node, HINTS.symbol);
  if (flags & ts.TypeFlags.TemplateLiteral) return unsupported(node, HINTS.template);
  if (flags & ts.TypeFlags.StringMapping) return unsupported(node, HINTS.spelling);
  return flags & COMPOSED ? undefined : unsupported(node);
}

/** Literals and objects of a union are in the order of the source. Members of an enum that are all there are the enum. */
function convertUnion(asking: Asking, types: readonly ts.Type[]): ReadType {
  const { checker, order } = asking;
  const whole = new Set(
    types.map((type) => {
      const base = type.flags & ts.TypeFlags.EnumLiteral ? checker.getBaseTypeOfLiteralType(type) : type;
      return base.isUnion() && base.types.every((each) => types.includes(each)) ? base : type;
    }),
  );
  const keyOf = (type: ts.Type): unknown =>
    type.isStringLiteral() || type.isNumberLiteral()
      ? type.value
      : (type.getSymbol()?.declarations?.[0] ?? keywordKey(checker.typeToString(type)));
  const members = order.sort([...whole], keyOf, (type) => checker.typeToString(type));
  return unite(members.map((member) => convert(asking, member)));
}

function convertObject(asking: Asking, type: ts.Type): ReadType {
  const { checker, node, order, reading } = asking;
  if (checker.isArrayType(type)) {
    const [element] = checker.getTypeArguments(type as ts.TypeReference);
    return element === undefined ? unsupported(node) : listOf(convert(asking, element), node);
  }
  if (checker.isTupleType(type)) return convertTuple(asking, type as ts.TupleTypeReference);
  if (type.getCallSignatures().length > 0 || type.getConstructSignatures().length > 0)
    return ts.isTypeQueryNode(node) ? unsupported(node, HINTS.value) : notPlain(node, HINTS.function);
  if (type.isClass() && reading.use !== 'response') return notPlain(node, HINTS.instance);
  const indexes = checker.getIndexInfosOfType(type);
  const properties = order.sort(
    type.getProperties().filter((each) => !isHidden(each)),
    ({ declarations, name }) => declarations?.at(-1) ?? name,
    ({ name }) => name,
  );
  if (indexes.length > 0) {
    const [index] = indexes;
    if (properties.length > 0 || index === undefined) return unsupported(node, HINTS.member);
    if ((index.keyType.flags & ts.TypeFlags.String) === 0) return unsupported(node, keysHint(index));
    return recordOf(convert(asking, index.type));
  }
  const fields: FieldSchema[] = [];
  for (const property of properties) {
    if (property.declarations?.some(ts.isMethodSignature)) return unsupported(node, HINTS.member);
    fields.push(convertProperty(asking, property));
  }
  return plain({ kind: 'object', fields });
}

function keysHint({ declaration }: ts.IndexInfo): string {
  return declaration === undefined
    ? HINTS.keys
    : `Use string keys: \`Record<string, ${declaration.type.getText()}>\`.`;
}

/** Whether a property is no data: a brand, a method of a class, or a member that is not public. */
function isHidden(property: ts.Symbol): boolean {
  const declaration = property.valueDeclaration;
  if (property.name.startsWith('__@') || property.name.startsWith('__#')) return true;
  if (declaration === undefined) return false;
  if (ts.isMethodDeclaration(declaration) || ts.isSetAccessorDeclaration(declaration)) return true;
  return (
    hasKeyword(declaration, ts.SyntaxKind.PrivateKeyword) ||
    hasKeyword(declaration, ts.SyntaxKind.ProtectedKeyword)
  );
}

/** Tags and description of a field are those of its declaration, wherever that is. */
function convertProperty(asking: Asking, property: ts.Symbol): FieldSchema {
  const { checker, reading, node } = asking;
  const type = checker.getTypeOfSymbolAtLocation(property, node);
  const declared = property.declarations?.at(-1);
  const place = declared !== undefined && reading.context.checker.isOwn(declared) ? declared : node;
  const field = declared !== undefined && place === declared && isField(declared) ? declared : undefined;
  const written = field?.type && checker.getTypeFromTypeNode(field.type);
  const isWritten = written !== undefined && bare(checker, written) === bare(checker, type);
  const read = isWritten ? undefined : convertAnew({ ...asking, node: field?.type ?? node }, type);
  const known = field && readField(reading, field, read);
  if (field !== undefined && known !== undefined)
    return { ...known, ...presence(property, { type, written }, known, isMarked(field)) };
  const doc = declared === undefined ? { tags: [] } : readDoc(declared);
  return {
    ...doc,
    ...(read ?? NEVER),
    ...splitTags(withTags(doc.tags, read?.tags)),
    location: locationOf(place),
    name: property.name,
    optional: (property.flags & ts.SymbolFlags.Optional) !== 0 || read?.optional === true,
  };
}

/** Converts a type that the declaration does not spell out, so that a message spells it out. */
function convertAnew(asking: Asking, type: ts.Type): ReadType {
  const read = withPartTags(convert(asking, type), tagsOfParts(asking.reading.context, asking.node));
  const { type: found } = read;
  if (found.kind !== 'unsupported') return read;
  return { ...read, type: { ...found, text: abbreviate(asking.checker.typeToString(type)) } };
}

/** Returns a type without `null` and `undefined`. */
function bare(checker: ts.TypeChecker, type: ts.Type): ts.Type {
  return checker.getNonNullableType(type);
}

/**
 * Whether a field may be absent or null, where a type such as `Partial` has changed that.
 *
 * @param written the type in the declaration of the field
 */
function presence(
  { flags }: ts.Symbol,
  { type, written = type }: { readonly type: ts.Type; readonly written: ts.Type | undefined },
  known: FieldSchema,
  isMarked: boolean,
): Pick<FieldSchema, 'optional' | 'nullable'> {
  const isOptional = (flags & ts.SymbolFlags.Optional) !== 0 || allows(type, ts.TypeFlags.Undefined);
  const isNullable = allows(type, ts.TypeFlags.Null);
  return {
    // Only a default is optional without saying so.
    optional: isOptional || (known.optional && !isMarked && !allows(written, ts.TypeFlags.Undefined)),
    nullable: allows(written, ts.TypeFlags.Null) === isNullable ? known.nullable : isNullable,
  };
}

function allows(type: ts.Type, flag: ts.TypeFlags): boolean {
  return (
    (type.flags & flag) !== 0 || (type.isUnion() && type.types.some(({ flags }) => (flags & flag) !== 0))
  );
}

/** Converts `[A, B?, ...C[]]`. */
function convertTuple(asking: Asking, type: ts.TupleTypeReference): ReadType {
  const { checker, node } = asking;
  const items: ItemSchema[] = [];
  const { elementFlags } = type.target;
  for (const [index, element] of checker.getTypeArguments(type).entries()) {
    const flags = elementFlags[index] ?? ts.ElementFlags.Required;
    const read = convert(asking, element);
    if (read.type.kind === 'unsupported') return plain(read.type);
    const nullable = read.nullable ? { nullable: true as const } : {};
    if ((flags & ts.ElementFlags.Variable) !== 0) {
      if (index < elementFlags.length - 1) return unsupported(node, HINTS.tuple);
      return plain({ kind: 'tuple', items, rest: { type: read.type, ...nullable } });
    }
    const isOptional = read.optional || (flags & ts.ElementFlags.Optional) !== 0;
    items.push({ type: read.type, ...nullable, ...(isOptional ? { optional: true as const } : {}) });
  }
  return plain({ kind: 'tuple', items });
}

function recordOf({ type, nullable }: ReadType): ReadType {
  if (type.kind === 'unsupported') return plain(type);
  return plain({ kind: 'record', of: type, ...(nullable ? { nullable: true } : {}) });
}
