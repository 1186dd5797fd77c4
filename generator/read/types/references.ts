import type { FieldSchema, ModelReference, ScalarKind, TypeSchema } from '../../schema/type-schema.js';
import { ts } from '../compiler.js';
import { moduleIndex } from '../module-index.js';
import type { ReadContext } from '../read-context.js';
import { decoratedName, hasDecorator } from '../read-decorator.js';
import {
  type Declaration,
  type Resolved,
  referenceToDeclaration,
  resolveClassDeclaration,
  resolveImportType,
  resolveName,
} from '../resolver.js';
import { fileOf, locationOf } from '../source-files.js';
import { declaredName, instanceProperties, nameText, scopeOf } from '../syntax.js';
import { isUnmarkedModel } from '../unmarked-model.js';
import { enumMemberValue, readEnumValues } from './constants.js';
import { followLineage, type Lineage, leadsTo } from './lineage.js';
import { readList } from './lists.js';
import { declarationKey, named, readClassFields, readInterface } from './objects.js';
import {
  bindArguments,
  DEEPEST,
  NO_SCOPE,
  type Reading,
  readBound,
  type Scope,
  type ScopedNode,
} from './reading.js';
import { hasAgain, isEndless, isMember, isObject, withLiterals } from './recursion.js';
import { keyOfType } from './relations.js';
import { plain, type ReadType, recursive, unsupported } from './type-results.js';
import { UTILITIES } from './utilities.js';

type Named = ts.TypeReferenceNode | ts.ExpressionWithTypeArguments | ts.ImportTypeNode;

/** Reads `import('./file.js').Name`. */
export function readImportType(reading: Reading, node: ts.ImportTypeNode): ReadType {
  const { argument, qualifier, isTypeOf } = node;
  const specifier = ts.isLiteralTypeNode(argument) ? argument.literal : undefined;
  if (specifier === undefined || !ts.isStringLiteral(specifier) || qualifier === undefined || isTypeOf)
    return unsupported(node);
  const name = qualifier.getText();
  const resolved = resolveImportType(reading.context, node.getSourceFile(), specifier.text, name);
  return readResolved(reading, resolved, node, name);
}

/** Reads a type by its name, or a base type of an interface. */
export function readReference(reading: Reading, node: Named, name: string): ReadType {
  const bound = reading.scope.get(name);
  if (bound !== undefined && node.typeArguments === undefined) return readBound(reading, bound);
  const source = node.getSourceFile();
  const member = enumMemberValue(reading, source, name);
  if (member !== undefined) return plain({ kind: 'enum', values: [member] });
  return readResolved(reading, resolveName(reading.context, source, name), node, name);
}

function readResolved(reading: Reading, resolved: Resolved, node: Named, name: string): ReadType {
  switch (resolved.kind) {
    case 'framework':
      return readFrameworkType(reading, resolved.name, node);
    case 'package':
      return resolved.module === 'decimal.js'
        ? plain({ kind: 'decimal' })
        : unsupported(node, aliasHint(name, resolved.module));
    case 'declared':
      return readDeclared(reading, resolved.declaration, node);
    case 'global':
      return readGlobal(reading, resolved.name, node);
    case 'missing':
      return unsupported(
        node,
        name.split('.').length > 2 ? namespaceHint(name) : missingHint(name, resolved.specifier),
      );
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

function readFrameworkType(reading: Reading, name: string, node: Named): ReadType {
  const scalar = Object.hasOwn(FRAMEWORK_SCALARS, name) ? FRAMEWORK_SCALARS[name] : undefined;
  if (scalar !== undefined) return plain({ kind: scalar });
  const [argument] = node.typeArguments ?? [];
  if (name === 'Default' && argument !== undefined) {
    return { ...reading.read(reading, argument), optional: true };
  }
  if ((name !== 'Id' && name !== 'ShardedId') || argument === undefined) return unsupported(node);
  const model = resolveClass(reading.context, argument, reading.scope);
  if (model === undefined) {
    const hint = `Name a model class that is imported by a relative path: \`${name}<Wallet>\`.`;
    return unsupported(node, hint);
  }
  return plain({ kind: 'id', model, sharded: name === 'ShardedId' });
}

/** Returns what to write instead of a type from an import that is not relative. */
function aliasHint(name: string, module: string): string | undefined {
  // `@/models`, `~/models` and `#models` are not names of packages.
  const [alias] = /^(@\/|~\/?|#\/?)/.exec(module) ?? [];
  return alias === undefined
    ? undefined
    : `Import it by a relative path, such as ${importText(name.split('.', 1).join(), `../${module.slice(alias.length)}`)}: ${JSON.stringify(module)} is a path alias, which the generator does not resolve.`;
}

function missingHint(name: string, specifier: string): string {
  return `${JSON.stringify(specifier)} does not export it. Import it from the file that exports it: ${importText(ownName(name), specifier)}.`;
}

function importText(name: string, specifier: string): string {
  return `\`import type { ${name} } from '${specifier}';\``;
}

/** Returns a name without its qualifiers. */
function ownName(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

/** Whether a name is qualified by a namespace of this project. */
function isInNamespace(source: ts.SourceFile, name: string): boolean {
  const [head = ''] = name.split('.', 1);
  if (head === name) return false;
  const isDeclared = source.statements.some(
    (each) => ts.isModuleDeclaration(each) && each.name.text === head,
  );
  return isDeclared || moduleIndex(source).imports.has(head);
}

/** Returns what to write instead of a type in a namespace. */
function namespaceHint(name: string): string {
  return `The generator does not read namespaces. Export the type at the top level of the file: \`export interface ${ownName(name)} { readonly field: Type }\`.`;
}

/** Resolves a type argument: type parameters are replaced by their arguments. */
export function argumentOf({ node, scope }: ScopedNode): ScopedNode {
  const name =
    ts.isTypeReferenceNode(node) && node.typeArguments === undefined ? nameText(node.typeName) : '';
  const bound = scope.get(name);
  return bound?.kind === 'written'
    ? argumentOf({ node: bound.node, scope: bound.reading.scope })
    : { node, scope };
}

/** Returns the class of this project that a type argument refers to. */
export function resolveClass(
  context: ReadContext,
  argument: ts.TypeNode,
  scope: Scope = NO_SCOPE,
): ModelReference | undefined {
  const { node } = argumentOf({ node: argument, scope });
  if (!ts.isTypeReferenceNode(node)) return undefined;
  const name = nameText(node.typeName);
  const declaration = resolveClassDeclaration(context, node, name);
  return declaration === undefined ? undefined : referenceToClass(context, declaration);
}

function referenceToClass(context: ReadContext, node: ts.ClassDeclaration): ModelReference {
  const marked = hasDecorator(context, node, 'AutoBuilder') || isUnmarkedModel(context, node);
  const storedName = decoratedName(context, node, 'AutoBuilder');
  const named = storedName === undefined ? {} : { storedName };
  return { name: node.name?.text ?? '', ...named, file: fileOf(node), marked };
}

/** Mutable classes, and the data types to write instead. */
const PLAIN_FORMS: ReadonlyMap<string, string> = new Map([
  ['Map', 'Record<string, T>'],
  ['ReadonlyMap', 'Record<string, T>'],
  ['Set', 'readonly T[]'],
  ['ReadonlySet', 'readonly T[]'],
  ['WeakMap', 'Record<string, T>'],
  ['WeakSet', 'readonly T[]'],
  ['Uint8Array', 'string'],
  ['Buffer', 'string'],
  ['URL', 'string'],
  ['RegExp', 'string'],
  ['Error', 'string'],
  ['Object', 'JsonValue'],
  ['Promise', 'T'],
]);

function readGlobal(reading: Reading, name: string, node: Named): ReadType {
  const args = node.typeArguments ?? [];
  if (name === 'Date') return plain({ kind: 'instant' });
  const form = PLAIN_FORMS.get(name);
  if (form !== undefined) return unsupported(node, `Use plain data: \`${withArgument(form, args.at(-1))}\`.`);
  if (isInNamespace(node.getSourceFile(), name)) return unsupported(node, namespaceHint(name));
  const [argument] = args;
  if (argument === undefined) return unsupported(node);
  if (name === 'Array' || name === 'ReadonlyArray') return readList(reading, argument, node);
  return UTILITIES.get(name)?.(reading, args, node) ?? unsupported(node);
}

function withArgument(form: string, argument: ts.TypeNode | undefined): string {
  if (argument === undefined) return form;
  const isBare = ts.isTypeReferenceNode(argument) || ts.isToken(argument) || !form.endsWith('T[]');
  return form.replace(/\bT\b/, () => (isBare ? argument.getText() : `(${argument.getText()})`));
}

function readDeclared(reading: Reading, declaration: Declaration, node: Named): ReadType {
  const parameters = 'typeParameters' in declaration ? declaration.typeParameters : undefined;
  const scope = bindArguments(reading, parameters, node.typeArguments ?? []);
  const key = `${declarationKey(declaration)}${argumentsKey(reading, scope)}`;
  // Type arguments and partial shapes change the result, so only plain references are cached.
  return readKeyed(reading, { declaration, node, key, scope });
}

interface Keyed {
  readonly declaration: Declaration;
  readonly node: Named;
  readonly key: string;
  readonly scope: Scope;
}

function readKeyed(reading: Reading, { declaration, node, key, scope }: Keyed): ReadType {
  reading.opened.add(key);
  const again = reading.open.get(key);
  if (again !== undefined) return plain({ kind: 'again', name: again });
  if (reading.depth >= DEEPEST) return recursive(node);
  const name = freeName(reading, declaredName(declaration) ?? '');
  const open = new Map([...reading.open, [key, name]]);
  const result = readOpened({ ...reading, open, depth: reading.depth + 1, scope }, declaration, node);
  if (!hasAgain(result.type, name)) return result;
  // `again` refers to the whole type, so all of its fields are needed.
  if (typeof reading.shape !== 'string')
    return readDeclared({ ...reading, shape: 'fields' }, declaration, node);
  // A type that is itself, without an object or list between, has no values.
  if (isEndless(result.type, name) || ts.isClassDeclaration(declaration)) return recursive(node);
  // A recursive reference must be distinguishable from other members of a union: as an object.
  if (!isObject(result.type) && isMember(result.type, name)) return recursive(node);
  return { ...result, type: { kind: 'recursive', name, of: withLiterals(result.type, name) } };
}

function readOpened(reading: Reading, declaration: Declaration, node: Named): ReadType {
  if (ts.isTypeAliasDeclaration(declaration)) return readAlias(reading, declaration);
  if (ts.isInterfaceDeclaration(declaration)) return readInterface(reading, declaration, node);
  if (ts.isEnumDeclaration(declaration)) return readEnum(declaration, node);
  return ts.isClassDeclaration(declaration) ? readClass(reading, declaration, node) : unsupported(node);
}

/** Returns a key of the type arguments, because each instance of a generic type is a different type. */
function argumentsKey(reading: Reading, scope: Scope): string {
  if (scope.size === 0) return '';
  return `<${[...scope.values()].map((bound) => keyOfType(readBound(reading, bound))).join()}>`;
}

/** Returns a name that no enclosing type has. */
function freeName({ open }: Reading, name: string): string {
  const taken = new Set(open.values());
  let free = name;
  for (let count = 2; taken.has(free); count += 1) free = `${name}${count}`;
  return free;
}

function readEnum(declaration: ts.EnumDeclaration, node: ts.TypeNode): ReadType {
  const values = readEnumValues(declaration);
  if (values === undefined)
    return unsupported(node, "Set every member of the enum to a string or a number: `OPEN = 'OPEN'`.");
  return plain({ kind: 'enum', values: [...new Set(values.values())], ...referenceFor(declaration) });
}

function readAlias(reading: Reading, alias: ts.TypeAliasDeclaration): ReadType {
  const result = reading.read(reading, alias.type);
  // The name of an alias with null or undefined does not name the value's type. A generic alias has no name.
  if (result.nullable || result.optional || alias.typeParameters !== undefined) return result;
  const { type } = result;
  if (type.kind === 'enum' || type.kind === 'union') return plain({ ...type, ...referenceFor(alias) });
  if (type.kind === 'object') return plain({ kind: 'object', fields: type.fields, ...named(alias) });
  return 'brand' in type ? plain({ ...type, brand: referenceFor(alias) }) : result;
}

function readClass(reading: Reading, node: ts.ClassDeclaration, usage: ts.TypeNode): ReadType {
  const model = referenceToClass(reading.context, node);
  if (reading.shape !== 'value') return plain({ kind: 'object', fields: shapeOf(reading, node) });
  if (model.marked) return plain({ kind: 'model', model });
  if (reading.use !== 'response')
    return unsupported(
      usage,
      `Data is not an instance of a class. Declare an interface: \`${interfaceText(node)}\`.`,
    );
  const fields = readClassFields(reading, node, { withGetters: true, roots: [] });
  return plain({ kind: 'object', fields, ...named(node) });
}

/** Returns the source text of an interface with the fields of a class. */
function interfaceText(node: ts.ClassDeclaration): string {
  const fields = instanceProperties(node)
    .filter((member) => scopeOf(member) === 'public' && member.type !== undefined)
    .map(({ name, type, questionToken }) => {
      const mark = questionToken === undefined ? '' : '?';
      return ` readonly ${name.getText()}${mark}: ${type?.getText() ?? 'unknown'};`;
    });
  return `export interface ${node.name?.text ?? 'Data'} {${fields.join('')} }`.replaceAll(/\s+/g, ' ');
}

/**
 * Returns the fields that `Pick<Wallet, ...>` and `Wallet['balance']` select from, including those of a model's base
 * class.
 */
function shapeOf(reading: Reading, node: ts.ClassDeclaration): readonly FieldSchema[] {
  const lineage = followLineage(reading, node);
  const base = leadsTo(lineage, 'Model', 'Entity') ? baseFields(reading, node, lineage) : [];
  const own = readClassFields(reading, node, { withGetters: true, roots: ['Model', 'Entity', 'ModelEvent'] });
  return [...base, ...own];
}

function baseFields(reading: Reading, node: ts.ClassDeclaration, lineage: Lineage): readonly FieldSchema[] {
  const [, id, state] = lineage.arguments;
  const typeOf = (argument: ScopedNode | undefined): TypeSchema =>
    argument === undefined
      ? { kind: 'string' }
      : reading.read({ ...reading, shape: 'value', scope: argument.scope }, argument.node).type;
  const base = (name: string, type: TypeSchema): FieldSchema => ({
    name,
    type,
    optional: false,
    nullable: false,
    tags: [],
    location: locationOf(node),
  });
  const dates = leadsTo(lineage, 'Model') ? ['createdDate', 'updatedDate'] : [];
  return [
    base('id', typeOf(id)),
    base('state', typeOf(state)),
    base('version', { kind: 'number' }),
    ...dates.map((name) => base(name, { kind: 'instant' })),
  ];
}

function referenceFor(declaration: Declaration): {
  readonly reference?: NonNullable<ReturnType<typeof referenceToDeclaration>>;
} {
  const reference = referenceToDeclaration(declaration);
  return reference === undefined ? {} : { reference };
}
