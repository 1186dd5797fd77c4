import type { FieldSchema, TypeSchema } from '../../schema/type-schema.js';
import { ts } from '../compiler.js';
import type { ReadContext } from '../read-context.js';
import { askForArgument, askForType } from './convert.js';
import { HINTS } from './hints.js';
import { isOpen, type Lineage } from './lineage.js';
import {
  declarationKey,
  type FieldOwner,
  readClassFields as readFieldsOfClass,
  readMembers,
} from './objects.js';
import { NOTHING_COMPOSED, type Reading, TYPE_BUDGET, type TypeUse } from './reading.js';
import { hasAgain } from './recursion.js';
import { readDeclared, readReference } from './references.js';
import { KEYWORDS, listOf, plain, type ReadType, recursive, unite, unsupported } from './type-results.js';

/** Returns the initial state of reading a type. */
export function startReading(context: ReadContext, use: TypeUse = 'data'): Reading {
  const budget = { left: TYPE_BUDGET };
  return { context, use, open: new Map(), composed: NOTHING_COMPOSED, budget, read, readDeclared };
}

/** Reads a type argument of the base class of this package. */
export function readArgument(
  context: ReadContext,
  lineage: Lineage,
  index: number,
  use: TypeUse = 'data',
): ReadType | undefined {
  const node = lineage.arguments[index];
  if (node === undefined) return undefined;
  const reading = startReading(context, use);
  return isOpen(node) ? askForArgument(reading, lineage.classes[0], { index, node }) : read(reading, node);
}

/**
 * Reads a type. The common forms are read from the syntax; everything else is asked of TypeScript's checker. A type
 * that cannot be stored or sent becomes `unsupported`.
 */
export function read(reading: Reading, node: ts.TypeNode): ReadType {
  reading.budget.left -= 1;
  if (reading.budget.left < 0) return unsupported(node, HINTS.tooLarge);
  return readForm(reading, node) ?? askForType(reading, node) ?? unsupported(node);
}

function readForm(reading: Reading, node: ts.TypeNode): ReadType | undefined {
  const keyword = KEYWORDS.get(ts.tokenToString(node.kind));
  if (keyword !== undefined) return keyword;
  if (ts.isTypeReferenceNode(node)) return readReference(reading, node);
  if (ts.isParenthesizedTypeNode(node)) return read(reading, node.type);
  if (ts.isLiteralTypeNode(node)) return readLiteral(node.literal);
  if (ts.isUnionTypeNode(node)) return unite(node.types.map((each) => read(reading, each)));
  if (ts.isArrayTypeNode(node)) return listOf(read(reading, node.elementType), node);
  if (ts.isTypeLiteralNode(node)) return readMembers(reading, node.members);
  const isReadonly = ts.isTypeOperatorNode(node) && node.operator === ts.SyntaxKind.ReadonlyKeyword;
  return isReadonly ? read(reading, node.type) : undefined;
}

function readLiteral(literal: ts.Node): ReadType | undefined {
  if (ts.isStringLiteralLike(literal)) return plain({ kind: 'enum', values: [literal.text] });
  if (ts.isNumericLiteral(literal)) return plain({ kind: 'enum', values: [Number(literal.text)] });
  if (ts.isPrefixUnaryExpression(literal) && ts.isNumericLiteral(literal.operand))
    return plain({ kind: 'enum', values: [-Number(literal.operand.text)] });
  return KEYWORDS.get(ts.tokenToString(literal.kind));
}

/** Returns the public instance fields of a mapper or event class, including inherited ones. */
export function readClassFields(
  context: ReadContext,
  node: ts.ClassDeclaration,
  owner: FieldOwner,
): readonly FieldSchema[] {
  const reading = startReading(context, 'response');
  const fieldsWhereSelfIs = (self: TypeSchema): readonly FieldSchema[] =>
    readFieldsOfClass({ ...reading, open: new Map([[declarationKey(node), plain(self)]]) }, node, owner);
  // No event is part of another one.
  if (owner === 'event') return fieldsWhereSelfIs(recursive(node.name ?? node).type);
  const name = node.name?.text ?? '';
  const inner = fieldsWhereSelfIs({ kind: 'again', name });
  if (!inner.some(({ type }) => hasAgain(type, name))) return inner;
  // A response has no enclosing type that `again` could refer to: each such field begins one.
  return fieldsWhereSelfIs({ kind: 'recursive', name, of: { kind: 'object', name, fields: inner } });
}
