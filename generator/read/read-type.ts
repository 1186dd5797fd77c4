import {
  type ClassDeclaration,
  type InterfaceDeclaration,
  Node,
  type ParameterDeclaration,
  type PropertyDeclaration,
  type PropertySignature,
  SyntaxKind,
  type TypeAliasDeclaration,
  type TypeElementTypes,
  type TypeNode,
  type TypeReferenceNode,
} from 'ts-morph';
import type { FieldSchema, ModelReference, ScalarKind, TypeSchema } from '../schema/type-schema.js';
import { enumMemberValue, readConstantValues, readEnumValues } from './read-constants.js';
import { type ReadContext, report } from './read-context.js';
import { hasDecorator } from './read-decorator.js';
import { readDoc } from './read-doc.js';
import { abbreviate, propertyName } from './read-literal.js';
import { type Declaration, referenceToDeclaration, resolveName } from './resolver.js';
import { fileOf, locationOf } from './source-files.js';
import { mergeFields, plain, type ReadType, recursive, unite, unsupported } from './type-results.js';

/** What the type is read for: a response may be made of mapper classes, other data is plain. */
export type TypeUse = 'data' | 'response';

interface Reading {
  readonly context: ReadContext;
  readonly use: TypeUse;
  /** Named types being read, to end recursion. */
  readonly open: ReadonlySet<Declaration>;
}

/** Reads a type as it is written, following names by hand; what cannot be stored or sent becomes `unsupported`. */
export function readType(context: ReadContext, node: TypeNode, use: TypeUse = 'data'): ReadType {
  return read({ context, use, open: new Set() }, node);
}

/** A property of a class or interface as a field; undefined, and reported, if its name is computed. */
export function readField(
  context: ReadContext,
  member: PropertyDeclaration | PropertySignature,
  use: TypeUse = 'data',
): FieldSchema | undefined {
  return field({ context, use, open: new Set() }, member);
}

/** The public instance fields of a mapper class. */
export function readClassFields(context: ReadContext, node: ClassDeclaration): readonly FieldSchema[] {
  return classFields({ context, use: 'response', open: new Set([node]) }, node);
}

function read(reading: Reading, node: TypeNode): ReadType {
  switch (node.getKind()) {
    case SyntaxKind.StringKeyword:
      return plain({ kind: 'string' });
    case SyntaxKind.NumberKeyword:
      return plain({ kind: 'number' });
    case SyntaxKind.BigIntKeyword:
      return plain({ kind: 'bigint' });
    case SyntaxKind.BooleanKeyword:
      return plain({ kind: 'boolean' });
    case SyntaxKind.VoidKeyword:
      return plain({ kind: 'void' });
    case SyntaxKind.UndefinedKeyword:
      return { type: { kind: 'void' }, nullable: false, optional: true };
  }
  if (Node.isParenthesizedTypeNode(node)) return read(reading, node.getTypeNode());
  if (Node.isLiteralTypeNode(node)) return readLiteralType(node.getLiteral(), node);
  if (Node.isUnionTypeNode(node)) return readUnion(reading, node.getTypeNodes(), node);
  if (Node.isIntersectionTypeNode(node)) return readIntersection(reading, node.getTypeNodes(), node);
  if (Node.isArrayTypeNode(node)) return readList(reading, node.getElementTypeNode(), node);
  if (Node.isTypeOperatorTypeNode(node) && node.getOperator() === SyntaxKind.ReadonlyKeyword) {
    return read(reading, node.getTypeNode());
  }
  if (Node.isTypeLiteral(node)) {
    return readMembers(reading, node.getMembers(), node, {});
  }
  if (Node.isTypeReference(node)) return readReference(reading, node);
  if (Node.isIndexedAccessTypeNode(node)) {
    const values = readConstantValues(reading.context, node);
    if (values !== undefined) return plain({ kind: 'enum', values });
  }
  return unsupported(node);
}

function readLiteralType(literal: Node, node: TypeNode): ReadType {
  if (Node.isStringLiteral(literal) || Node.isNoSubstitutionTemplateLiteral(literal)) {
    return plain({ kind: 'enum', values: [literal.getLiteralText()] });
  }
  if (Node.isNullLiteral(literal)) return { type: { kind: 'void' }, nullable: true, optional: false };
  if (Node.isTrueLiteral(literal) || Node.isFalseLiteral(literal)) return plain({ kind: 'boolean' });
  return unsupported(node);
}

function readUnion(reading: Reading, nodes: readonly TypeNode[], union: TypeNode): ReadType {
  const members = nodes.map((node) => read(reading, node));
  const nullable = members.some((member) => member.nullable);
  const optional = members.some((member) => member.optional);
  const types = members.map((member) => member.type).filter((type) => type.kind !== 'void');
  return { type: unite(types, union), nullable, optional };
}

function readIntersection(reading: Reading, nodes: readonly TypeNode[], intersection: TypeNode): ReadType {
  const types = nodes.map((node) => read(reading, node).type);
  const objects = types.filter((type) => type.kind === 'object');
  if (objects.length < types.length) return unsupported(intersection);
  return plain({ kind: 'object', fields: mergeFields(objects.flatMap((each) => each.fields)) });
}

function readList(reading: Reading, element: TypeNode, list: TypeNode): ReadType {
  const { type, nullable, optional } = read(reading, element);
  if (type.kind === 'unsupported') return plain(type);
  if (nullable || optional || type.kind === 'void' || type.kind === 'model') {
    return unsupported(list, 'Items of a list cannot be null, undefined or models.');
  }
  return plain({ kind: 'list', of: type });
}

function readReference(reading: Reading, node: TypeReferenceNode): ReadType {
  const name = node.getTypeName().getText();
  const member = enumMemberValue(reading.context, node.getSourceFile(), name);
  if (member !== undefined) return plain({ kind: 'enum', values: [member] });
  const resolved = resolveName(reading.context, node.getSourceFile(), name);
  switch (resolved.kind) {
    case 'framework':
      return readFrameworkType(reading, resolved.name, node);
    case 'package':
      return resolved.module === 'decimal.js' ? plain({ kind: 'decimal' }) : unsupported(node);
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

function readFrameworkType(reading: Reading, name: string, node: TypeReferenceNode): ReadType {
  const scalar = Object.hasOwn(FRAMEWORK_SCALARS, name) ? FRAMEWORK_SCALARS[name] : undefined;
  if (scalar !== undefined) return plain({ kind: scalar });
  const [argument] = node.getTypeArguments();
  if ((name !== 'Id' && name !== 'ShardedId') || argument === undefined) return unsupported(node);
  const model = resolveClass(reading.context, argument);
  if (model === undefined) return unsupported(node, 'Name the model class between the angle brackets.');
  return plain({ kind: 'id', model, sharded: name === 'ShardedId' });
}

/** The class of this project that a type argument names. */
export function resolveClass(context: ReadContext, node: TypeNode): ModelReference | undefined {
  if (!Node.isTypeReference(node)) return undefined;
  const resolved = resolveName(context, node.getSourceFile(), node.getTypeName().getText());
  if (resolved.kind !== 'declared' || !Node.isClassDeclaration(resolved.declaration)) return undefined;
  return referenceToClass(context, resolved.declaration);
}

function referenceToClass(context: ReadContext, node: ClassDeclaration): ModelReference {
  const marked = hasDecorator(context, node, 'AutoBuilder');
  return { name: node.getName() ?? '', file: fileOf(node), marked };
}

function readGlobal(reading: Reading, name: string, node: TypeReferenceNode): ReadType {
  const [argument] = node.getTypeArguments();
  if (name === 'Date') return plain({ kind: 'instant' });
  if (argument === undefined) return unsupported(node);
  if (name === 'Array' || name === 'ReadonlyArray') return readList(reading, argument, node);
  if (name === 'Readonly') return read(reading, argument);
  return unsupported(node);
}

function readDeclared(reading: Reading, declaration: Declaration, node: TypeReferenceNode): ReadType {
  if (reading.open.has(declaration)) return recursive(node);
  const inner: Reading = { ...reading, open: new Set([...reading.open, declaration]) };
  if (Node.isTypeAliasDeclaration(declaration)) return readAlias(inner, declaration, node);
  if (Node.isInterfaceDeclaration(declaration)) return readInterface(inner, declaration, node);
  if (Node.isEnumDeclaration(declaration)) {
    const values = readEnumValues(declaration);
    if (values === undefined) return unsupported(node, 'Give every member of the enum a string value.');
    return plain({ kind: 'enum', values, ...referenceFor(declaration) });
  }
  if (Node.isClassDeclaration(declaration)) return readClass(inner, declaration, node);
  return unsupported(node);
}

function readAlias(reading: Reading, alias: TypeAliasDeclaration, node: TypeReferenceNode): ReadType {
  const target = alias.getTypeNode();
  if (target === undefined || alias.getTypeParameters().length > 0) return unsupported(node);
  const result = read(reading, target);
  // A name that includes null or undefined is not the name of the value's own type.
  if (result.nullable || result.optional) return result;
  if (result.type.kind === 'enum') return plain({ ...result.type, ...referenceFor(alias) });
  if (result.type.kind === 'object') return plain({ ...result.type, ...named(alias) });
  return result;
}

function readInterface(reading: Reading, node: InterfaceDeclaration, usage: TypeNode): ReadType {
  if (node.getTypeParameters().length > 0) return unsupported(usage);
  const inherited: FieldSchema[] = [];
  for (const clause of node.getExtends()) {
    const resolved = resolveName(reading.context, node.getSourceFile(), clause.getExpression().getText());
    const base = resolved.kind === 'declared' ? resolved.declaration : undefined;
    if (!Node.isInterfaceDeclaration(base) || clause.getTypeArguments().length > 0) return unsupported(usage);
    if (reading.open.has(base)) return recursive(usage);
    const { type } = readInterface({ ...reading, open: new Set([...reading.open, base]) }, base, usage);
    if (type.kind !== 'object') return plain(type);
    inherited.push(...type.fields);
  }
  const own = readMembers(reading, node.getMembers(), usage, named(node));
  if (own.type.kind !== 'object') return own;
  return plain({ ...own.type, fields: mergeFields([...inherited, ...own.type.fields]) });
}

function readMembers(
  reading: Reading,
  members: readonly TypeElementTypes[],
  usage: TypeNode,
  name: ReturnType<typeof named>,
): ReadType {
  const fields: FieldSchema[] = [];
  for (const member of members) {
    if (!Node.isPropertySignature(member)) return unsupported(usage);
    const read = field(reading, member);
    if (read !== undefined) fields.push(read);
  }
  return plain({ kind: 'object', fields, ...name });
}

function readClass(reading: Reading, node: ClassDeclaration, usage: TypeNode): ReadType {
  const model = referenceToClass(reading.context, node);
  if (model.marked) return plain({ kind: 'model', model });
  if (reading.use !== 'response') return unsupported(usage, 'Declare an interface: plain data has no class.');
  return plain({ kind: 'object', fields: classFields(reading, node), ...named(node) });
}

function classFields(reading: Reading, node: ClassDeclaration): readonly FieldSchema[] {
  const fields: FieldSchema[] = [];
  for (const property of node.getInstanceProperties()) {
    if (Node.isParameterDeclaration(property)) reportParameterProperty(reading.context, property);
    if (!Node.isPropertyDeclaration(property) || property.getScope() !== 'public') continue;
    if (Node.isPrivateIdentifier(property.getNameNode())) continue;
    const read = field(reading, property);
    if (read !== undefined) fields.push(read);
  }
  return fields;
}

function reportParameterProperty(context: ReadContext, parameter: ParameterDeclaration): void {
  report(
    context,
    'FWGEN004',
    parameter,
    `The parameter ${parameter.getName()} declares a field`,
    'Declare the field in the class body and assign it: parameter properties cannot be erased.',
  );
}

function field(reading: Reading, member: PropertyDeclaration | PropertySignature): FieldSchema | undefined {
  const name = propertyName(member.getNameNode());
  const typeNode = member.getTypeNode();
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
  return {
    name,
    type,
    optional: optional || member.hasQuestionToken(),
    nullable,
    ...(description === undefined ? {} : { description }),
    tags,
    location: locationOf(member),
  };
}

function named(
  declaration: TypeAliasDeclaration | InterfaceDeclaration | ClassDeclaration,
): Partial<Extract<TypeSchema, { kind: 'object' }>> {
  const name = declaration.getName();
  const { description } = readDoc(declaration);
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...referenceFor(declaration),
  };
}

function referenceFor(declaration: Declaration): {
  readonly reference?: NonNullable<ReturnType<typeof referenceToDeclaration>>;
} {
  const reference = referenceToDeclaration(declaration);
  return reference === undefined ? {} : { reference };
}
