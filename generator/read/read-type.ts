import type { FieldSchema, ModelReference, ScalarKind, TypeSchema } from '../schema/type-schema.js';
import { ts } from './compiler.js';
import { enumMemberValue, readConstantValues, readEnumValues } from './read-constants.js';
import { type Draft, type ReadContext, report } from './read-context.js';
import { hasDecorator } from './read-decorator.js';
import { readDoc, readMisplacedTags } from './read-doc.js';
import { abbreviate, propertyName } from './read-literal.js';
import {
  type Declaration,
  importKey,
  referenceToDeclaration,
  resolveClassDeclaration,
  resolveName,
} from './resolver.js';
import { fileOf, locationOf } from './source-files.js';
import { constructorOf, declaredName, instanceProperties, scopeOf } from './syntax.js';
import { mergeFields, plain, type ReadType, recursive, unite, unsupported } from './type-results.js';

/** What the type is read for: a response may be made of mapper classes, other data is plain; a result is only given. */
export type TypeUse = 'data' | 'result' | 'response';

interface Reading {
  readonly context: ReadContext;
  readonly use: TypeUse;
  /** Named types being read, to end recursion. */
  readonly open: ReadonlySet<string>;
}

/** Reads a type as it is written, following names by hand; what cannot be stored or sent becomes `unsupported`. */
export function readType(context: ReadContext, node: ts.TypeNode, use: TypeUse = 'data'): ReadType {
  return read({ context, use, open: new Set() }, node);
}

/** A property of a class or interface as a field; undefined, and reported, if its name is computed. */
export function readField(
  context: ReadContext,
  member: ts.PropertyDeclaration | ts.PropertySignature,
  use: TypeUse = 'data',
): FieldSchema | undefined {
  return field({ context, use, open: new Set() }, member);
}

/** The public instance fields of a mapper class. */
export function readClassFields(context: ReadContext, node: ts.ClassDeclaration): readonly FieldSchema[] {
  return classFields({ context, use: 'response', open: new Set([declarationKey(node)]) }, node);
}

function read(reading: Reading, node: ts.TypeNode): ReadType {
  switch (node.kind) {
    case ts.SyntaxKind.StringKeyword:
      return plain({ kind: 'string' });
    case ts.SyntaxKind.NumberKeyword:
      return plain({ kind: 'number' });
    case ts.SyntaxKind.BigIntKeyword:
      return plain({ kind: 'bigint' });
    case ts.SyntaxKind.BooleanKeyword:
      return plain({ kind: 'boolean' });
    case ts.SyntaxKind.VoidKeyword:
      return plain({ kind: 'void' });
    case ts.SyntaxKind.UndefinedKeyword:
      return { type: { kind: 'void' }, nullable: false, optional: true };
  }
  if (ts.isParenthesizedTypeNode(node)) return read(reading, node.type);
  if (ts.isLiteralTypeNode(node)) return readLiteralType(reading, node.literal, node);
  if (ts.isUnionTypeNode(node)) return readUnion(reading, node.types, node);
  if (ts.isIntersectionTypeNode(node)) return readIntersection(reading, node.types, node);
  if (ts.isArrayTypeNode(node)) return readList(reading, node.elementType, node);
  if (ts.isTypeOperatorNode(node) && node.operator === ts.SyntaxKind.ReadonlyKeyword) {
    return read(reading, node.type);
  }
  if (ts.isTypeLiteralNode(node)) {
    return readMembers(reading, node.members, node, {});
  }
  if (ts.isTypeReferenceNode(node)) return readReference(reading, node);
  if (ts.isIndexedAccessTypeNode(node)) {
    const values = readConstantValues(reading.context, node);
    if (values !== undefined) return plain({ kind: 'enum', values });
  }
  return unsupported(node);
}

function readLiteralType({ use }: Reading, literal: ts.Node, node: ts.TypeNode): ReadType {
  if (ts.isStringLiteralLike(literal)) {
    return plain({ kind: 'enum', values: [literal.text] });
  }
  if (literal.kind === ts.SyntaxKind.NullKeyword)
    return { type: { kind: 'void' }, nullable: true, optional: false };
  const isBoolean = literal.kind === ts.SyntaxKind.TrueKeyword || literal.kind === ts.SyntaxKind.FalseKeyword;
  // What is only given is one of its type already; what is taken would have to be checked for it.
  return isBoolean && use !== 'data' ? plain({ kind: 'boolean' }) : unsupported(node);
}

function readUnion(reading: Reading, nodes: readonly ts.TypeNode[], union: ts.TypeNode): ReadType {
  const members = nodes.map((node) => read(reading, node));
  const nullable = members.some((member) => member.nullable);
  const optional = members.some((member) => member.optional);
  const types = members.map((member) => member.type).filter((type) => type.kind !== 'void');
  return { type: unite(types, union), nullable, optional };
}

function readIntersection(
  reading: Reading,
  nodes: readonly ts.TypeNode[],
  intersection: ts.TypeNode,
): ReadType {
  const types = nodes.map((node) => read(reading, node).type);
  const objects = types.filter((type) => type.kind === 'object');
  if (objects.length < types.length) return unsupported(intersection);
  return plain({ kind: 'object', fields: mergeFields(objects.flatMap((each) => each.fields)) });
}

function readList(reading: Reading, element: ts.TypeNode, list: ts.TypeNode): ReadType {
  const { type, nullable, optional } = read(reading, element);
  if (type.kind === 'unsupported') return plain(type);
  if (nullable || optional || type.kind === 'void' || type.kind === 'model') {
    return unsupported(list, 'Items of a list cannot be null, undefined or models.');
  }
  return plain({ kind: 'list', of: type });
}

function readReference(reading: Reading, node: ts.TypeReferenceNode): ReadType {
  const name = node.typeName.getText();
  const member = enumMemberValue(reading.context, node.getSourceFile(), name);
  if (member !== undefined) return plain({ kind: 'enum', values: [member] });
  const resolved = resolveName(reading.context, node.getSourceFile(), name);
  switch (resolved.kind) {
    case 'framework':
      return readFrameworkType(reading, resolved.name, node);
    case 'package':
      return resolved.module === 'decimal.js'
        ? plain({ kind: 'decimal' })
        : unsupported(node, aliasHint(resolved.module));
    case 'declared':
      return readDeclared(reading, resolved.declaration, node);
    case 'global':
      return readGlobal(reading, resolved.name, node);
    case 'missing':
      return unsupported(node, `${JSON.stringify(resolved.specifier)} does not export it: check the import.`);
    case 'generated':
      return unsupported(node);
  }
}

const FRAMEWORK_SCALARS: Readonly<Record<string, ScalarKind>> = {
  Decimal: 'decimal',
  Uuid: 'uuid',
  Currency: 'currency',
  JsonValue: 'json',
};

function readFrameworkType(reading: Reading, name: string, node: ts.TypeReferenceNode): ReadType {
  const scalar = Object.hasOwn(FRAMEWORK_SCALARS, name) ? FRAMEWORK_SCALARS[name] : undefined;
  if (scalar !== undefined) return plain({ kind: scalar });
  const [argument] = node.typeArguments ?? [];
  if (name === 'Default' && argument !== undefined) return { ...read(reading, argument), optional: true };
  if ((name !== 'Id' && name !== 'ShardedId') || argument === undefined) return unsupported(node);
  const model = resolveClass(reading.context, argument);
  if (model === undefined) {
    const hint = 'Name the model class between the angle brackets, imported by a relative path.';
    return unsupported(node, hint);
  }
  return plain({ kind: 'id', model, sharded: name === 'ShardedId' });
}

/** What to write instead of a type behind an import that is no relative one. */
function aliasHint(module: string): string | undefined {
  // `@/models`, `~/models` and `#models` are no names of packages.
  return /^(@\/|~|#)/.test(module)
    ? `Import it by a relative path: ${JSON.stringify(module)} is a path alias, and the generator follows files only.`
    : undefined;
}

/** The class of this project that a type argument names. */
export function resolveClass(context: ReadContext, node: ts.TypeNode): ModelReference | undefined {
  if (!ts.isTypeReferenceNode(node)) return undefined;
  const name = node.typeName.getText();
  const source = node.getSourceFile();
  const find = (): ModelReference | undefined => {
    const declaration = resolveClassDeclaration(context, node, name);
    return declaration === undefined ? undefined : referenceToClass(context, declaration);
  };
  const key = importKey(source, name);
  if (key === undefined) return find();
  let known = context.classes.get(key);
  if (known === undefined) {
    const { given, asked } = context.sources.asking(find);
    known = { reference: given, asked };
    context.classes.set(key, known);
  } else context.sources.noteAsked(known.asked);
  return known.reference;
}

function referenceToClass(context: ReadContext, node: ts.ClassDeclaration): ModelReference {
  const marked = hasDecorator(context, node, 'AutoBuilder');
  return { name: node.name?.text ?? '', file: fileOf(node), marked };
}

function readGlobal(reading: Reading, name: string, node: ts.TypeReferenceNode): ReadType {
  const [argument] = node.typeArguments ?? [];
  if (name === 'Date') return plain({ kind: 'instant' });
  if (argument === undefined) return unsupported(node);
  if (name === 'Array' || name === 'ReadonlyArray') return readList(reading, argument, node);
  if (name === 'Readonly') return read(reading, argument);
  return unsupported(node);
}

function readDeclared(reading: Reading, declaration: Declaration, node: ts.TypeReferenceNode): ReadType {
  if (reading.open.has(declarationKey(declaration))) return recursive(node);
  const inner: Reading = { ...reading, open: new Set([...reading.open, declarationKey(declaration)]) };
  if (ts.isTypeAliasDeclaration(declaration)) return readAlias(inner, declaration, node);
  if (ts.isInterfaceDeclaration(declaration)) return readInterface(inner, declaration, node);
  if (ts.isEnumDeclaration(declaration)) {
    const values = readEnumValues(declaration);
    if (values === undefined) return unsupported(node, 'Give every member of the enum a string value.');
    return plain({ kind: 'enum', values, ...referenceFor(declaration) });
  }
  if (ts.isClassDeclaration(declaration)) return readClass(inner, declaration, node);
  return unsupported(node);
}

function readAlias(reading: Reading, alias: ts.TypeAliasDeclaration, node: ts.TypeReferenceNode): ReadType {
  if (alias.typeParameters !== undefined) return unsupported(node);
  const result = read(reading, alias.type);
  // A name that includes null or undefined is not the name of the value's own type.
  if (result.nullable || result.optional) return result;
  if (result.type.kind === 'enum') return plain({ ...result.type, ...referenceFor(alias) });
  if (result.type.kind === 'object') return plain({ ...result.type, ...named(alias) });
  return result;
}

function readInterface(reading: Reading, node: ts.InterfaceDeclaration, usage: ts.TypeNode): ReadType {
  if (node.typeParameters !== undefined) return unsupported(usage);
  const inherited: FieldSchema[] = [];
  for (const clause of node.heritageClauses?.flatMap(({ types }) => types) ?? []) {
    const resolved = resolveName(reading.context, node.getSourceFile(), clause.expression.getText());
    const base = resolved.kind === 'declared' ? resolved.declaration : undefined;
    if (base === undefined || !ts.isInterfaceDeclaration(base)) return unsupported(usage);
    if (clause.typeArguments !== undefined) return unsupported(usage);
    if (reading.open.has(declarationKey(base))) return recursive(usage);
    const { type } = readInterface(
      { ...reading, open: new Set([...reading.open, declarationKey(base)]) },
      base,
      usage,
    );
    if (type.kind !== 'object') return plain(type);
    inherited.push(...type.fields);
  }
  const own = readMembers(reading, node.members, usage, named(node));
  if (own.type.kind !== 'object') return own;
  return plain({ ...own.type, fields: mergeFields([...inherited, ...own.type.fields]) });
}

function readMembers(
  reading: Reading,
  members: readonly ts.TypeElement[],
  usage: ts.TypeNode,
  name: ReturnType<typeof named>,
): ReadType {
  const fields: FieldSchema[] = [];
  for (const member of members) {
    if (!ts.isPropertySignature(member)) return unsupported(usage);
    const read = field(reading, member);
    if (read !== undefined) fields.push(read);
  }
  return plain({ kind: 'object', fields, ...name });
}

function readClass(reading: Reading, node: ts.ClassDeclaration, usage: ts.TypeNode): ReadType {
  const model = referenceToClass(reading.context, node);
  if (model.marked) return plain({ kind: 'model', model });
  if (reading.use !== 'response') return unsupported(usage, 'Declare an interface: plain data has no class.');
  return plain({ kind: 'object', fields: classFields(reading, node), ...named(node) });
}

function classFields(reading: Reading, node: ts.ClassDeclaration): readonly FieldSchema[] {
  const fields: FieldSchema[] = [];
  for (const parameter of constructorOf(node)?.parameters ?? []) {
    if (ts.isParameterPropertyDeclaration(parameter, parameter.parent)) {
      reportParameterProperty(reading.context, parameter);
    }
  }
  for (const property of instanceProperties(node)) {
    if (scopeOf(property) !== 'public') continue;
    const read = field(reading, property);
    if (read !== undefined) fields.push(read);
  }
  return fields;
}

function reportParameterProperty(context: ReadContext, parameter: ts.ParameterDeclaration): void {
  report(
    context,
    'FWGEN004',
    parameter,
    `The parameter ${parameter.name.getText()} declares a field`,
    'Declare the field in the class body and assign it: parameter properties cannot be erased.',
  );
}

function field(
  reading: Reading,
  member: ts.PropertyDeclaration | ts.PropertySignature,
): FieldSchema | undefined {
  const name = propertyName(member.name);
  const typeNode = member.type;
  if (name === undefined || typeNode === undefined) {
    const problem = name === undefined ? 'has a computed name' : 'has no type';
    report(
      reading.context,
      'FWGEN004',
      member,
      `The field ${abbreviate(member.getText())} ${problem}`,
      'Write its name and type out: the generator reads them as text.',
    );
    return undefined;
  }
  const { type, nullable, optional } = read(reading, typeNode);
  const { description, tags } = readDoc(member);
  const misplaced = readMisplacedTags(member);
  if (isDefault(reading.context, typeNode) && !tags.some((tag) => tag.name === 'default'))
    report(
      reading.context,
      'FWGEN032',
      member,
      `The type of ${name} is Default, and its comment has no @default`,
      'Write the value in the comment right before the field: @default 50.',
    );
  const schema: Draft<FieldSchema> = {
    name,
    type,
    optional: optional || member.questionToken !== undefined,
    nullable,
    tags: misplaced.length === 0 ? tags : [...tags, ...misplaced],
    location: locationOf(member),
  };
  if (description !== undefined) schema.description = description;
  return schema;
}

/** `Default<number>`. */
function isDefault(context: ReadContext, node: ts.TypeNode): boolean {
  if (!ts.isTypeReferenceNode(node) || node.typeArguments === undefined) return false;
  const resolved = resolveName(context, node.getSourceFile(), node.typeName.getText());
  return resolved.kind === 'framework' && resolved.name === 'Default';
}

/** One text per declaration: its tree may be made anew between two looks. */
function declarationKey(declaration: Declaration): string {
  return `${fileOf(declaration)}#${declaration.pos}`;
}

function named(
  declaration: ts.TypeAliasDeclaration | ts.InterfaceDeclaration | ts.ClassDeclaration,
): Partial<Extract<TypeSchema, { kind: 'object' }>> {
  const name = declaredName(declaration);
  const { description } = readDoc(declaration);
  const reference = referenceToDeclaration(declaration);
  const names: Draft<Partial<Extract<TypeSchema, { kind: 'object' }>>> = {};
  if (name !== undefined) names.name = name;
  if (description !== undefined) names.description = description;
  if (reference !== undefined) names.reference = reference;
  return names;
}

function referenceFor(declaration: Declaration): {
  readonly reference?: NonNullable<ReturnType<typeof referenceToDeclaration>>;
} {
  const reference = referenceToDeclaration(declaration);
  return reference === undefined ? {} : { reference };
}
