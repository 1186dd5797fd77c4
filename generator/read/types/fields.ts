import type { DocTag, FieldSchema } from '../../schema/type-schema.js';
import { ts } from '../compiler.js';
import { completeForm, type FieldNode, isMarked } from '../field-form.js';
import { type ReadContext, report } from '../read-context.js';
import { readDoc, readMisplacedTags } from '../read-doc.js';
import { abbreviate, propertyName } from '../read-literal.js';
import { isOfFramework } from '../resolver.js';
import { locationOf } from '../source-files.js';
import { withCause } from '../unresolved.js';
import type { Reading } from './reading.js';
import type { ReadType } from './type-results.js';

/** Whether a node declares a field. */
export function isField(node: ts.Node): node is FieldNode {
  return (
    ts.isPropertyDeclaration(node) ||
    ts.isPropertySignature(node) ||
    ts.isGetAccessorDeclaration(node) ||
    ts.isParameterPropertyDeclaration(node, node.parent)
  );
}

/**
 * Reads a property as a field. @param known its type, unless that is read as written. @returns undefined, after a
 * report, if its name is computed or its type is missing
 */
export function readField(reading: Reading, member: FieldNode, known?: ReadType): FieldSchema | undefined {
  const name = propertyName(member.name);
  const typeNode = member.type;
  if (name === undefined || typeNode === undefined) {
    const problem = name === undefined ? 'has a computed name' : 'has no type';
    const hint = `Write a name and a type: \`${completeForm(member)}\`. The generator does not infer them.`;
    const message = `The field ${abbreviate(member.getText())} ${problem}`;
    return report(reading.context, 'FWGEN004', member, message, hint);
  }
  const read = known ?? reading.read(reading, typeNode);
  const { nullable, optional } = read;
  const type = withCause(reading.context, typeNode, read.type);
  const { description, tags: own } = readDoc(member);
  const { tags, ...ofParts } = splitTags(withTags(own, read.tags));
  const misplaced =
    ts.isPropertyDeclaration(member) || ts.isPropertySignature(member) ? readMisplacedTags(member) : [];
  if (isDefault(reading.context, typeNode) && !tags.some((tag) => tag.name === 'default')) {
    const message = `The type of ${name} is Default, but its comment has no @default`;
    const hint = 'Write the value in the comment directly before the field: `@default 50`.';
    report(reading.context, 'FWGEN032', member, message, hint);
  }
  return {
    name,
    type,
    optional: optional || isMarked(member),
    nullable,
    tags: misplaced.length === 0 ? tags : [...tags, ...misplaced],
    ...ofParts,
    location: locationOf(member),
    ...(description === undefined ? {} : { description }),
  };
}

/** Adds the tags of a field's type. The field's own ones take precedence. */
export function withTags(own: readonly DocTag[], others: readonly DocTag[] = []): readonly DocTag[] {
  const missing = others.filter((tag) => !own.some(({ name }) => name === tag.name));
  return missing.length === 0 ? own : [...own, ...missing];
}

/** Separates the tags of a field from those of its parts. */
export function splitTags(all: readonly DocTag[]): Pick<FieldSchema, 'tags' | 'partTags'> {
  const partTags = all.filter(({ ofPart }) => ofPart);
  return partTags.length === 0 ? { tags: all } : { tags: all.filter(({ ofPart }) => !ofPart), partTags };
}

/** Whether a type is `Default<...>`. */
function isDefault(context: ReadContext, node: ts.TypeNode): boolean {
  const isGeneric = ts.isTypeReferenceNode(node) && node.typeArguments !== undefined;
  return isGeneric && isOfFramework(context, node.typeName, 'Default');
}
