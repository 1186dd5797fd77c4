import { defined } from '../../schema/defined.js';
import type { FieldSchema, TypeSchema } from '../../schema/type-schema.js';
import { ts } from '../compiler.js';
import { type FieldNode, fieldForm } from '../field-form.js';
import { type ReadContext, report } from '../read-context.js';
import { readDoc } from '../read-doc.js';
import { type Declaration, referenceToDeclaration } from '../resolver.js';
import { fileOf } from '../source-files.js';
import { constructorOf, declaredName, isInstanceMember, parameterProperties, scopeOf } from '../syntax.js';
import { askForMember } from './convert.js';
import { isField, readField } from './fields.js';
import { followLineage, isOpen, leadsTo } from './lineage.js';
import type { Reading } from './reading.js';
import { mergeFields, plain, type ReadType } from './type-results.js';

/** Returns a unique text for a declaration. Its tree may be parsed again between two reads. */
export function declarationKey(declaration: Declaration): string {
  return `${fileOf(declaration)}#${declaration.pos}`;
}

/** Reads the members of an object type. @returns undefined if they are not all plain properties */
export function readMembers(reading: Reading, members: readonly ts.TypeElement[]): ReadType | undefined {
  if (!members.every((member) => ts.isPropertySignature(member))) return undefined;
  const fields = members.map((member) => readField(reading, member)).filter((field) => field !== undefined);
  return plain({ kind: 'object', fields });
}

/** The kind of a class whose fields are read. Getters of an event are no fields, because they are not stored. */
export type FieldOwner = 'event' | 'response';

/** Returns the public instance fields of a class. Fields of its base classes in this project come first. */
export function readClassFields(
  reading: Reading,
  node: ts.ClassDeclaration,
  owner: FieldOwner,
): readonly FieldSchema[] {
  const lineage = followLineage(reading.context, node);
  if (lineage.root !== undefined && !(owner === 'event' && leadsTo(lineage, 'ModelEvent')))
    reportBase(reading.context, node, lineage.root.clause);
  return mergeFields(lineage.classes.toReversed().flatMap((each) => ownFields(reading, each, node, owner)));
}

function reportBase(context: ReadContext, node: ts.ClassDeclaration, clause: ts.Node): void {
  const message = `The generator cannot read the fields of ${clause.getText()}, which ${node.name?.text ?? 'the class'} extends`;
  const hint =
    'Declare the fields in this class (`readonly field!: string;`), or extend a named class of this project.';
  report(context, 'FWGEN004', clause, message, hint);
}

/** @param leaf the class whose fields are read, which binds the type parameters of its base classes */
function ownFields(
  reading: Reading,
  node: ts.ClassDeclaration,
  leaf: ts.ClassDeclaration,
  owner: FieldOwner,
): readonly FieldSchema[] {
  const { context } = reading;
  const members = node.members.flatMap(
    (member): readonly (ts.ClassElement | ts.ParameterPropertyDeclaration)[] =>
      member === constructorOf(node) ? parameterProperties(node) : [member],
  );
  reportMerged(context, node);
  const fields: FieldSchema[] = [];
  for (const member of members) {
    if (ts.isIndexSignatureDeclaration(member)) reportIndex(context, member);
    if (!isField(member) || ts.isPrivateIdentifier(member.name)) continue;
    if (ts.isGetAccessorDeclaration(member) && owner === 'event') continue;
    if (!isInstanceMember(member) || scopeOf(member) !== 'public') continue;
    const read = readClassField(reading, member, leaf);
    if (read !== undefined) fields.push(read);
  }
  return fields;
}

/** Reads a field of a class, or of a base class with type parameters. */
export function readClassField(
  reading: Reading,
  member: Exclude<FieldNode, ts.PropertySignature>,
  leaf: ts.ClassDeclaration,
): FieldSchema | undefined {
  const isBound = member.parent !== leaf && member.type !== undefined && isOpen(member.type);
  return readField(reading, member, isBound ? askForMember(reading, leaf, member) : undefined);
}

/** Reports an interface that adds fields to a class. Methods are not data, and are ignored. */
export function reportMerged(context: ReadContext, node: ts.ClassDeclaration): void {
  const name = node.name?.text ?? '';
  for (const merged of context.checker.interfacesOf(node)) {
    const fields = merged.members.filter(ts.isPropertySignature);
    if (fields.length === 0 && merged.heritageClauses === undefined) continue;
    const forms = fields.map((field) => fieldForm(field)).join(' ') || 'readonly field!: string;';
    const hint = `Declare them in the class: \`class ${name} { ${forms} }\`.`;
    report(context, 'FWGEN004', merged, `The interface ${name} adds fields to the class ${name}`, hint);
  }
}

function reportIndex(context: ReadContext, member: ts.IndexSignatureDeclaration): void {
  // Source text with syntax errors may lack it.
  const type = (member.type as ts.TypeNode | undefined)?.getText() ?? 'string';
  const hint = `Replace it with a field: \`readonly entries!: Record<string, ${type}>;\`.`;
  report(context, 'FWGEN004', member, 'A class cannot have an index signature', hint);
}

/** Returns name, description and reference of an object type, for emitted code and the API document. */
export function named(
  declaration: ts.TypeAliasDeclaration | ts.InterfaceDeclaration | ts.ClassDeclaration,
): Partial<Extract<TypeSchema, { kind: 'object' }>> {
  // A generic type has no name, because each of its instances is a different type.
  if (declaration.typeParameters !== undefined) return {};
  const { description } = readDoc(declaration);
  const reference = referenceToDeclaration(declaration);
  return defined({ name: declaredName(declaration), description, reference });
}
