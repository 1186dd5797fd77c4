import type { FieldSchema } from '../../schema/type-schema.js';
import { ts } from '../compiler.js';
import type { ReadContext } from '../read-context.js';
import { nameText } from '../syntax.js';
import { askForArgument, askForType } from './convert.js';
import { HINTS } from './hints.js';
import { argumentOf, type Lineage } from './lineage.js';
import {
  type ClassFieldOptions,
  declarationKey,
  readClassFields as readFieldsOfClass,
  readMembers,
} from './objects.js';
import { type Reading, TYPE_BUDGET, type TypeUse } from './reading.js';
import { readDeclared, readReference } from './references.js';
import { listOf, plain, type ReadType, unsupported } from './type-results.js';
import { unite } from './unite.js';

/** Returns the initial state of reading a type. */
export function startReading(context: ReadContext, use: TypeUse = 'data'): Reading {
  return { context, use, open: new Map(), depth: 0, budget: { left: TYPE_BUDGET }, read, readDeclared };
}

/** Reads a type argument of the base class of this package. */
export function readArgument(
  context: ReadContext,
  lineage: Lineage,
  index: number,
  use: TypeUse = 'data',
): ReadType | undefined {
  const argument = lineage.arguments[index];
  if (argument === undefined) return undefined;
  const { node, scope } = argumentOf(argument);
  const reading = startReading(context, use);
  return scope.size === 0
    ? read(reading, node)
    : askForArgument(reading, lineage.classes[0].node, { index, node });
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
  switch (node.kind) {
    case ts.SyntaxKind.StringKeyword:
      return plain({ kind: 'string' });
    case ts.SyntaxKind.NumberKeyword:
      return plain({ kind: 'number' });
    case ts.SyntaxKind.BigIntKeyword:
      return plain({ kind: 'bigint' });
    case ts.SyntaxKind.BooleanKeyword:
      return plain({ kind: 'boolean' });
    case ts.SyntaxKind.UnknownKeyword:
      // Stored as any JSON value, typed as written.
      return plain({ kind: 'json', brand: {} });
    case ts.SyntaxKind.VoidKeyword:
      return plain({ kind: 'void' });
    case ts.SyntaxKind.UndefinedKeyword:
      return { type: { kind: 'void' }, nullable: false, optional: true };
  }
  if (ts.isTypeReferenceNode(node)) return readReference(reading, node, nameText(node.typeName));
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
  switch (literal.kind) {
    case ts.SyntaxKind.NullKeyword:
      return { type: { kind: 'void' }, nullable: true, optional: false };
    case ts.SyntaxKind.TrueKeyword:
      return plain({ kind: 'enum', values: [true] });
    case ts.SyntaxKind.FalseKeyword:
      return plain({ kind: 'enum', values: [false] });
    default:
      return undefined;
  }
}

/** Returns the public instance fields of a mapper or event class, including inherited ones. */
export function readClassFields(
  context: ReadContext,
  node: ts.ClassDeclaration,
  options: ClassFieldOptions,
): readonly FieldSchema[] {
  const open = new Map([[declarationKey(node), node.name?.text ?? '']]);
  return readFieldsOfClass({ ...startReading(context, 'response'), open }, node, options);
}
