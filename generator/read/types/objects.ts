import type { FieldSchema, TypeSchema } from '../../schema/type-schema.js';
import { interfacesOf } from '../augmentations.js';
import { ts } from '../compiler.js';
import { assignedFieldForm } from '../field-form.js';
import { type Draft, type ReadContext, report } from '../read-context.js';
import { readDoc, readMisplacedTags } from '../read-doc.js';
import { abbreviate, propertyName } from '../read-literal.js';
import { type Declaration, referenceToDeclaration, resolveName } from '../resolver.js';
import { fileOf, locationOf } from '../source-files.js';
import { constructorOf, declaredName, isInstanceMember, scopeOf } from '../syntax.js';
import { followLineage, leadsTo, type ScopedClass } from './lineage.js';
import { isNeeded, type Reading, type Shape } from './reading.js';
import { mergeFields, plain, type ReadType, unsupported } from './type-results.js';

/** A class or interface member that declares a field. */
export type FieldNode = ts.PropertyDeclaration | ts.PropertySignature | ts.GetAccessorDeclaration;

/** Returns a unique text for a declaration. Its tree may be parsed again between two reads. */
export function declarationKey(declaration: Declaration): string {
  return `${fileOf(declaration)}#${declaration.pos}`;
}

/** Reads the fields of an interface: of all its declarations (also in other files) and of the types that it extends. */
export function readInterface(reading: Reading, node: ts.InterfaceDeclaration, usage: ts.TypeNode): ReadType {
  const fields: FieldSchema[] = [];
  const declarations = interfacesOf(reading.context, node);
  for (const clause of declarations
    .flatMap(({ heritageClauses }) => heritageClauses ?? [])
    .flatMap(({ types }) => types)) {
    const { type } = reading.read({ ...reading, shape: shapeOfBase(reading) }, clause);
    if (type.kind === 'unsupported') return plain(type);
    if (type.kind !== 'object') return unsupported(usage, EXTENDS_HINT);
    fields.push(...type.fields);
  }
  for (const { members } of declarations) {
    const own = readMembers(reading, members, usage);
    if (own.type.kind !== 'object') return own;
    fields.push(...own.type.fields);
  }
  return plain({ kind: 'object', fields: mergeFields(fields), ...named(node) });
}

function shapeOfBase({ shape }: Reading): Shape {
  return shape === 'value' ? 'fields' : shape;
}

const EXTENDS_HINT =
  "Extend only object types with known fields: `interface Parcel extends Pick<Address, 'street'> { readonly weight: number }`.";

/** Reads the members of an object type. */
export function readMembers(
  reading: Reading,
  members: readonly ts.TypeElement[],
  usage: ts.TypeNode,
): ReadType {
  const inner: Reading = { ...reading, shape: 'value' };
  const [only] = members;
  if (members.length === 1 && only !== undefined && ts.isIndexSignatureDeclaration(only)) {
    const { type, nullable } = inner.read(inner, only.type);
    const isText = only.parameters[0]?.type?.kind === ts.SyntaxKind.StringKeyword;
    if (!isText) return unsupported(usage, `Use string keys: \`Record<string, ${only.type.getText()}>\`.`);
    return plain(
      type.kind === 'unsupported'
        ? type
        : { kind: 'record', of: type, ...(nullable ? { nullable: true } : {}) },
    );
  }
  const fields: FieldSchema[] = [];
  for (const member of members) {
    if (!ts.isPropertySignature(member)) return unsupported(usage, MEMBER_HINT);
    if (!isNeeded(reading, propertyName(member.name))) continue;
    const read = readField(inner, member);
    if (read !== undefined) fields.push(read);
  }
  reportRepeated(reading.context, members);
  return plain({ kind: 'object', fields });
}

const MEMBER_HINT =
  'Data has only properties. Remove methods, and replace an index signature with a field: `readonly entries: Record<string, T>;`.';

/** Reports two fields of one name in a declaration, which the compiler does not accept either. */
export function reportRepeated(
  context: ReadContext,
  members: readonly (ts.TypeElement | ts.ClassElement)[],
): void {
  const seen = new Set<string>();
  for (const member of members) {
    const isField =
      ts.isPropertySignature(member) || (ts.isPropertyDeclaration(member) && isInstanceMember(member));
    const name = isField ? propertyName(member.name) : undefined;
    if (name === undefined) continue;
    if (seen.has(name)) {
      report(
        context,
        'FWGEN004',
        member,
        `The field ${name} is declared twice`,
        `Keep only one: \`${abbreviate(member.getText())}\`.`,
      );
    }
    seen.add(name);
  }
}

/** Options of reading the fields of a class. */
export interface ClassFieldOptions {
  /** Whether getters are fields. False for events, because getters are not stored. */
  readonly withGetters: boolean;
  /** Classes of this package that end the chain of base classes. */
  readonly roots: readonly string[];
}

/** Returns the public instance fields of a class. Fields of its base classes in this project come first. */
export function readClassFields(
  reading: Reading,
  node: ts.ClassDeclaration,
  { withGetters, roots }: ClassFieldOptions,
): readonly FieldSchema[] {
  const lineage = followLineage(reading, node);
  if (lineage.root !== undefined && !leadsTo(lineage, ...roots))
    reportBase(reading.context, node, lineage.root.clause);
  const classes = [...lineage.classes].reverse();
  return mergeFields(classes.flatMap((each) => ownFields(reading, each, withGetters)));
}

function reportBase(context: ReadContext, node: ts.ClassDeclaration, clause: ts.Node): void {
  report(
    context,
    'FWGEN004',
    clause,
    `The generator cannot read the fields of ${clause.getText()}, which ${node.name?.text ?? 'the class'} extends`,
    'Declare the fields in this class (`readonly field!: Type;`), or extend a named class of this project.',
  );
}

function ownFields(
  reading: Reading,
  { node, scope }: ScopedClass,
  withGetters: boolean,
): readonly FieldSchema[] {
  const { context } = reading;
  const inner: Reading = { ...reading, scope, shape: 'value' };
  for (const parameter of constructorOf(node)?.parameters ?? []) {
    if (ts.isParameterPropertyDeclaration(parameter, parameter.parent))
      reportParameterProperty(context, parameter);
  }
  reportRepeated(context, node.members);
  reportMerged(context, node);
  const fields: FieldSchema[] = [];
  for (const member of node.members) {
    if (ts.isIndexSignatureDeclaration(member)) reportIndex(context, member);
    const isField = ts.isPropertyDeclaration(member) || (withGetters && ts.isGetAccessorDeclaration(member));
    if (!isField || ts.isPrivateIdentifier(member.name)) continue;
    if (!isInstanceMember(member) || scopeOf(member) !== 'public') continue;
    if (!isNeeded(reading, propertyName(member.name))) continue;
    const read = readField(inner, member);
    if (read !== undefined) fields.push(read);
  }
  return fields;
}

/** Reports an interface that adds fields to a class. Methods are not data, and are ignored. */
export function reportMerged(context: ReadContext, node: ts.ClassDeclaration): void {
  const name = node.name?.text ?? '';
  for (const merged of interfacesOf(context, node)) {
    if (!merged.members.some(ts.isPropertySignature) && merged.heritageClauses === undefined) continue;
    report(
      context,
      'FWGEN004',
      merged,
      `The interface ${name} adds fields to the class ${name}`,
      `Declare them in the class: \`class ${name} { readonly field!: Type; }\`.`,
    );
  }
}

function reportIndex(context: ReadContext, member: ts.Node): void {
  const hint = 'Replace it with a field: `readonly entries!: Record<string, Type>;`.';
  report(context, 'FWGEN004', member, 'A class cannot have an index signature', hint);
}

function reportParameterProperty(context: ReadContext, parameter: ts.ParameterDeclaration): void {
  const name = parameter.name.getText();
  report(
    context,
    'FWGEN004',
    parameter,
    `The constructor parameter ${name} declares a field`,
    `Write \`${assignedFieldForm(parameter)}\` in the class body, and assign it with \`this.${name} = ${name};\`. Parameter properties are not erasable syntax.`,
  );
}

/** Reads a property as a field. @returns undefined, after a report, if its name is computed or its type is missing */
export function readField(reading: Reading, member: FieldNode): FieldSchema | undefined {
  const name = propertyName(member.name);
  const typeNode = member.type;
  if (name === undefined || typeNode === undefined) {
    const problem = name === undefined ? 'has a computed name' : 'has no type';
    report(
      reading.context,
      'FWGEN004',
      member,
      `The field ${abbreviate(member.getText())} ${problem}`,
      `Write a name and a type: \`readonly ${name ?? 'field'}: ${typeNode?.getText() ?? 'Type'};\`. The generator does not infer them.`,
    );
    return undefined;
  }
  const { type, nullable, optional } = reading.read(reading, typeNode);
  const { description, tags } = readDoc(member);
  const misplaced = ts.isGetAccessorDeclaration(member) ? [] : readMisplacedTags(member);
  if (isDefault(reading.context, typeNode) && !tags.some((tag) => tag.name === 'default'))
    report(
      reading.context,
      'FWGEN032',
      member,
      `The type of ${name} is Default, but its comment has no @default`,
      'Write the value in the comment directly before the field: `@default 50`.',
    );
  const isOptional = !ts.isGetAccessorDeclaration(member) && member.questionToken !== undefined;
  const schema: Draft<FieldSchema> = {
    name,
    type,
    optional: optional || isOptional,
    nullable,
    tags: misplaced.length === 0 ? tags : [...tags, ...misplaced],
    location: locationOf(member),
  };
  if (description !== undefined) schema.description = description;
  return schema;
}

/** Whether a type is `Default<...>`. */
function isDefault(context: ReadContext, node: ts.TypeNode): boolean {
  if (!ts.isTypeReferenceNode(node) || node.typeArguments === undefined) return false;
  const resolved = resolveName(context, node.getSourceFile(), node.typeName.getText());
  return resolved.kind === 'framework' && resolved.name === 'Default';
}

/** Returns name, description and reference of an object type, for emitted code and the API document. */
export function named(
  declaration: ts.TypeAliasDeclaration | ts.InterfaceDeclaration | ts.ClassDeclaration,
): Partial<Extract<TypeSchema, { kind: 'object' }>> {
  // A generic type has no name, because each of its instances is a different type.
  if (declaration.typeParameters !== undefined) return {};
  const name = declaredName(declaration);
  const { description } = readDoc(declaration);
  const reference = referenceToDeclaration(declaration);
  const names: Draft<Partial<Extract<TypeSchema, { kind: 'object' }>>> = {};
  if (name !== undefined) names.name = name;
  if (description !== undefined) names.description = description;
  if (reference !== undefined) names.reference = reference;
  return names;
}
