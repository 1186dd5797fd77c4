import { defined } from '../../schema/defined.js';
import type { Reference } from '../../schema/location.js';
import type { ScalarKind } from '../../schema/type-schema.js';
import { ts } from '../compiler.js';
import { fieldForm } from '../field-form.js';
import { namesIn } from '../module-names.js';
import { readDoc } from '../read-doc.js';
import {
  type Declaration,
  type Resolved,
  referenceTo,
  referenceToDeclaration,
  resolveName,
} from '../resolver.js';
import { declaredName, instanceProperties, parameterProperties, scopeOf } from '../syntax.js';
import { unknownType } from '../unresolved.js';
import { askForDeclared, askForType } from './convert.js';
import { isOnSurface } from './framework-surface.js';
import { CLASS_HINTS } from './hints.js';
import { idHint } from './known-types.js';
import { followLineage, leadsTo } from './lineage.js';
import { referenceToClass, resolveClass } from './model-classes.js';
import { declarationKey, named, readClassFields, readMembers } from './objects.js';
import type { Reading } from './reading.js';
import { enclose } from './recursion.js';
import { listOf, notPlain, plain, type ReadType, unsupported } from './type-results.js';

/** Reads a type by its name. @returns undefined if only the checker knows it */
export function readReference(reading: Reading, node: ts.TypeReferenceNode): ReadType | undefined {
  // A namespace may declare another type under the name.
  if (ts.findAncestor(node, ts.isModuleBlock) !== undefined) return undefined;
  const resolved = resolveName(reading.context, node.typeName);
  switch (resolved.kind) {
    case 'framework':
      return readFrameworkType(reading, resolved.name, node);
    case 'declared':
      return node.typeArguments === undefined && !isGeneric(resolved.declaration)
        ? readDeclared(reading, resolved.declaration, node)
        : undefined;
    case 'global':
      return readGlobal(reading, resolved.name, node);
    case 'package':
      return resolved.module === 'decimal.js'
        ? plain({ kind: 'decimal' })
        : readForeign(reading, resolved, node);
    case 'missing':
      return askForType(reading, node) ?? unknownType(reading.context, node);
    case 'generated':
      return unsupported(node);
  }
}

/** Whether a declaration has type parameters. Without arguments, they have their defaults. */
function isGeneric(declaration: Declaration): boolean {
  return 'typeParameters' in declaration && declaration.typeParameters !== undefined;
}

const FRAMEWORK_SCALARS: Readonly<Record<string, ScalarKind>> = {
  Decimal: 'decimal',
  Uuid: 'uuid',
  Currency: 'currency',
  JsonValue: 'json',
};

function readFrameworkType(reading: Reading, name: string, node: ts.TypeReferenceNode): ReadType | undefined {
  const scalar = Object.hasOwn(FRAMEWORK_SCALARS, name) ? FRAMEWORK_SCALARS[name] : undefined;
  if (scalar !== undefined) return plain({ kind: scalar });
  const [argument] = node.typeArguments ?? [];
  if (name === 'Default' && argument !== undefined)
    return { ...reading.read(reading, argument), optional: true };
  if (!isOnSurface(name)) return unsupported(node);
  if ((name !== 'Id' && name !== 'ShardedId') || argument === undefined) return undefined;
  const model = resolveClass(reading.context, argument);
  if (model !== undefined) return plain({ kind: 'id', model, sharded: name === 'ShardedId' });
  return askForType(reading, node) ?? unsupported(node, idHint(name));
}

function readGlobal(reading: Reading, name: string, node: ts.TypeReferenceNode): ReadType | undefined {
  const args = node.typeArguments ?? [];
  if (name === 'Date') return plain({ kind: 'instant' });
  const [argument] = args;
  if ((name === 'Array' || name === 'ReadonlyArray') && argument !== undefined)
    return listOf(reading.read(reading, argument), node);
  // Data is never changed, so both are the same.
  if (name === 'Readonly' && argument !== undefined) return reading.read(reading, argument);
  const hint = CLASS_HINTS.get(name);
  return hint === undefined ? undefined : notPlain(node, hint);
}

/** Reads a type of a package, of a workspace, or behind a path alias. */
function readForeign(
  reading: Reading,
  resolved: Extract<Resolved, { kind: 'package' }>,
  node: ts.TypeReferenceNode,
): ReadType | undefined {
  const read = askForType(reading, node);
  if (read === undefined) return unknownType(reading.context, node);
  const { type } = read;
  const isNamed = node.typeArguments === undefined && resolved.name !== 'default';
  const reference = isNamed ? referenceTo(resolved) : undefined;
  const takesName = type.kind === 'enum' || type.kind === 'union' || type.kind === 'object';
  return takesName && reference !== undefined ? { ...read, type: { ...type, reference } } : read;
}

/** Reads a declaration of this project. @param node where it is used */
export function readDeclared(reading: Reading, declaration: Declaration, node: ts.Node): ReadType {
  const opening = {
    key: declarationKey(declaration),
    name: declaredName(declaration) ?? '',
    node,
    isClass: ts.isClassDeclaration(declaration),
  };
  return enclose(reading, opening, (inner) => readOpened(inner, declaration, node));
}

function readOpened(reading: Reading, declaration: Declaration, node: ts.Node): ReadType {
  if (ts.isTypeAliasDeclaration(declaration)) return readAlias(reading, declaration);
  if (ts.isInterfaceDeclaration(declaration)) return readInterface(reading, declaration, node);
  if (ts.isEnumDeclaration(declaration)) return readEnum(reading, declaration, node);
  return ts.isClassDeclaration(declaration) ? readClass(reading, declaration, node) : unsupported(node);
}

function readAlias(reading: Reading, alias: ts.TypeAliasDeclaration): ReadType {
  const result = reading.read(reading, alias.type);
  return withOwnTags({ ...nameAlias(result, alias), ...defined({ tags: result.tags }) }, [alias]);
}

/** Adds the tags of a type's declarations: they are those of each field that has this type. */
function withOwnTags(read: ReadType, declarations: readonly Declaration[]): ReadType {
  const own = declarations.flatMap((each) => readDoc(each).tags);
  if (own.length === 0) return read;
  return { ...read, tags: [...own.map((tag) => ({ ...tag, ofType: true as const })), ...(read.tags ?? [])] };
}

function nameAlias(result: ReadType, alias: ts.TypeAliasDeclaration): ReadType {
  // The name of an alias with null or undefined does not name the value's type.
  if (result.nullable || result.optional) return result;
  const { type } = result;
  if (type.kind === 'enum' || type.kind === 'union') return plain({ ...type, ...referenceFor(alias) });
  if (type.kind === 'object') return plain({ kind: 'object', fields: type.fields, ...named(alias) });
  return 'brand' in type ? plain({ ...type, brand: referenceFor(alias) }) : result;
}

/** Reads an interface without bases and further declarations; asks the checker about any other. */
function readInterface(reading: Reading, node: ts.InterfaceDeclaration, usage: ts.Node): ReadType {
  const declarations = reading.context.checker.interfacesOf(node);
  const isPlain = declarations.length === 1 && node.heritageClauses === undefined;
  const read =
    (isPlain ? readMembers(reading, node.members) : undefined) ?? askForDeclared(reading, node, usage);
  const result = read.type.kind === 'object' ? { ...read, type: { ...read.type, ...named(node) } } : read;
  return withOwnTags(result, declarations);
}

/** Asks the checker about an enum that has other values than texts, or several declarations. */
function readEnum(reading: Reading, node: ts.EnumDeclaration, usage: ts.Node): ReadType {
  const values = node.members.flatMap(({ initializer }) =>
    initializer !== undefined && ts.isStringLiteralLike(initializer) ? [initializer.text] : [],
  );
  const { declarations } = namesIn(node.getSourceFile());
  const isPlain =
    declarations.get(node.name.text)?.length === 1 &&
    values.length > 0 &&
    values.length === node.members.length;
  const read = isPlain
    ? plain({ kind: 'enum', values: [...new Set(values)] })
    : askForDeclared(reading, node, usage);
  const result = read.type.kind === 'enum' ? plain({ ...read.type, ...referenceFor(node) }) : read;
  return withOwnTags(result, [node]);
}

function readClass(reading: Reading, node: ts.ClassDeclaration, usage: ts.Node): ReadType {
  const model = referenceToClass(reading.context, node);
  if (model.marked) return plain({ kind: 'model', model });
  if (reading.use !== 'response') {
    const hint = `Data is not an instance of a class. Declare an interface: \`${interfaceText(node)}\`.`;
    // A base class of models is a model in every result.
    const isModel = leadsTo(followLineage(reading.context, node), 'Model', 'Entity');
    return isModel ? unsupported(usage, hint) : notPlain(usage, hint);
  }
  const fields = readClassFields(reading, node, 'response');
  return plain({ kind: 'object', fields, ...named(node) });
}

/** Returns the source text of an interface with the fields of a class. */
function interfaceText(node: ts.ClassDeclaration): string {
  const fields = [...instanceProperties(node), ...parameterProperties(node)]
    .filter((member) => scopeOf(member) === 'public' && member.type !== undefined)
    .map((member) => ` ${fieldForm(member, '').replace(/;?$/, ';')}`);
  return `export interface ${node.name?.text ?? 'Data'} {${fields.join('')} }`;
}

function referenceFor(declaration: Declaration): { readonly reference?: Reference } {
  return defined({ reference: referenceToDeclaration(declaration) });
}
