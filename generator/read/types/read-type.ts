import type { FieldSchema } from '../../schema/type-schema.js';
import { ts } from '../compiler.js';
import type { ReadContext } from '../read-context.js';
import { nameText } from '../syntax.js';
import { readIntersection } from './intersections.js';
import { readList, readTuple } from './lists.js';
import {
  type ClassFieldOptions,
  declarationKey,
  readClassFields as readFieldsOfClass,
  readMembers,
} from './objects.js';
import {
  readConditional,
  readIndexedAccess,
  readKeyOf,
  readMapped,
  readTemplate,
  readTypeQuery,
} from './operators.js';
import { NO_SCOPE, type Reading, type Scope, TYPE_BUDGET, type TypeUse } from './reading.js';
import { readImportType, readReference } from './references.js';
import { NEVER, unite } from './relations.js';
import { plain, type ReadType, unsupported } from './type-results.js';

/** Returns the initial state of reading a type. */
export function startReading(context: ReadContext, use: TypeUse = 'data', scope: Scope = NO_SCOPE): Reading {
  return {
    context,
    use,
    open: new Map(),
    opened: new Set(),
    scope,
    depth: 0,
    shape: 'value',
    budget: { left: TYPE_BUDGET },
    read,
  };
}

/**
 * Reads a type from the syntax and resolves names itself. A type that cannot be stored or sent becomes `unsupported`.
 */
export function readType(
  context: ReadContext,
  node: ts.TypeNode,
  use: TypeUse = 'data',
  scope: Scope = NO_SCOPE,
): ReadType {
  return read(startReading(context, use, scope), node);
}

/** Returns the public instance fields of a mapper or event class, including inherited ones. */
export function readClassFields(
  context: ReadContext,
  node: ts.ClassDeclaration,
  options: ClassFieldOptions,
): readonly FieldSchema[] {
  const reading = startReading(context, 'response');
  return readFieldsOfClass(
    { ...reading, open: new Map([[declarationKey(node), node.name?.text ?? '']]) },
    node,
    options,
  );
}

const TOO_LARGE = 'It expands to too many types. Split it, or write `JsonValue`.';

function read(reading: Reading, node: ts.TypeNode): ReadType {
  reading.budget.left -= 1;
  if (reading.budget.left < 0) return unsupported(node, TOO_LARGE);
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
    case ts.SyntaxKind.AnyKeyword:
      return unsupported(node, 'Write a specific type, or `unknown` for any JSON value.');
    case ts.SyntaxKind.ObjectKeyword:
      return unsupported(node, 'Write its fields, or `Readonly<Record<string, JsonValue>>`.');
    case ts.SyntaxKind.SymbolKeyword:
      return unsupported(node, 'JSON has no symbols. Write `string`, or a union of literals.');
    case ts.SyntaxKind.FunctionType:
      return unsupported(node, "JSON has no functions. Use names of functions: `'add' | 'remove'`.");
    case ts.SyntaxKind.NeverKeyword:
      return NEVER;
    case ts.SyntaxKind.VoidKeyword:
      return plain({ kind: 'void' });
    case ts.SyntaxKind.UndefinedKeyword:
      return { type: { kind: 'void' }, nullable: false, optional: true };
  }
  return readComposed(reading, node);
}

function readComposed(reading: Reading, node: ts.TypeNode): ReadType {
  if (ts.isTypeReferenceNode(node)) return readReference(reading, node, nameText(node.typeName));
  if (ts.isExpressionWithTypeArguments(node)) return readReference(reading, node, nameText(node.expression));
  if (ts.isParenthesizedTypeNode(node)) return read(reading, node.type);
  if (ts.isLiteralTypeNode(node)) return readLiteralType(node.literal, node);
  if (ts.isUnionTypeNode(node)) return unite(node.types.map((each) => read(reading, each)));
  if (ts.isIntersectionTypeNode(node)) return readIntersection(reading, node);
  if (ts.isImportTypeNode(node)) return readImportType(reading, node);
  if (ts.isArrayTypeNode(node)) return readList(reading, node.elementType, node);
  if (ts.isTupleTypeNode(node)) return readTuple(reading, node);
  if (ts.isTypeOperatorNode(node)) {
    if (node.operator === ts.SyntaxKind.ReadonlyKeyword) return read(reading, node.type);
    return node.operator === ts.SyntaxKind.KeyOfKeyword
      ? readKeyOf(reading, node.type, node)
      : unsupported(node);
  }
  if (ts.isTypeLiteralNode(node)) return readMembers(reading, node.members, node);
  if (ts.isIndexedAccessTypeNode(node)) return readIndexedAccess(reading, node);
  if (ts.isTypeQueryNode(node)) return readTypeQuery(reading, node);
  if (ts.isTemplateLiteralTypeNode(node)) return readTemplate(reading, node);
  if (ts.isMappedTypeNode(node)) return readMapped(reading, node);
  return ts.isConditionalTypeNode(node) ? readConditional(reading, node) : unsupported(node);
}

function readLiteralType(literal: ts.Node, node: ts.TypeNode): ReadType {
  if (ts.isStringLiteralLike(literal)) return plain({ kind: 'enum', values: [literal.text] });
  if (literal.kind === ts.SyntaxKind.NullKeyword)
    return { type: { kind: 'void' }, nullable: true, optional: false };
  if (literal.kind === ts.SyntaxKind.TrueKeyword) return plain({ kind: 'enum', values: [true] });
  if (literal.kind === ts.SyntaxKind.FalseKeyword) return plain({ kind: 'enum', values: [false] });
  const isNegative = ts.isPrefixUnaryExpression(literal) && literal.operator === ts.SyntaxKind.MinusToken;
  const digits = isNegative ? literal.operand : literal;
  const value = ts.isNumericLiteral(digits) ? Number(digits.text) : Number.NaN;
  if (!Number.isFinite(value)) return unsupported(node);
  return plain({ kind: 'enum', values: [isNegative ? -value : value] });
}
