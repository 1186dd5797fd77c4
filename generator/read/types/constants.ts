import type { EnumValue, FieldSchema, ItemSchema, TypeSchema } from '../../schema/type-schema.js';
import { ts } from '../compiler.js';
import { propertyName } from '../read-literal.js';
import { resolveName } from '../resolver.js';
import { locationOf } from '../source-files.js';
import type { Reading } from './reading.js';
import { unite } from './relations.js';
import { mergeFields, plain, type ReadType, unsupportedText } from './type-results.js';

/** Returns the values of an enum; undefined if one of them is a complex expression. */
export function readEnumValues(declaration: ts.EnumDeclaration): ReadonlyMap<string, EnumValue> | undefined {
  const values = new Map<string, EnumValue>();
  let next: number | undefined = 0;
  for (const { name, initializer } of declaration.members) {
    const key = propertyName(name);
    const value: EnumValue | undefined = initializer === undefined ? next : literalValue(initializer, values);
    if (key === undefined || value === undefined) return undefined;
    values.set(key, value);
    next = typeof value === 'number' ? value + 1 : undefined;
  }
  return values.size === 0 ? undefined : values;
}

/** Returns the text or number of an expression of literals, with the arithmetic of bit flags. */
function literalValue(node: ts.Expression, known: ReadonlyMap<string, EnumValue>): EnumValue | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isNumericLiteral(node)) return finite(Number(node.text));
  if (ts.isIdentifier(node)) return known.get(node.text);
  if (ts.isParenthesizedExpression(node)) return literalValue(node.expression, known);
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.MinusToken) {
    const value = literalValue(node.operand, known);
    return typeof value === 'number' ? -value : undefined;
  }
  if (!ts.isBinaryExpression(node)) return undefined;
  const [left, right] = [literalValue(node.left, known), literalValue(node.right, known)];
  if (typeof left !== 'number' || typeof right !== 'number') return undefined;
  switch (node.operatorToken.kind) {
    case ts.SyntaxKind.LessThanLessThanToken:
      return left << right;
    case ts.SyntaxKind.BarToken:
      return left | right;
    case ts.SyntaxKind.PlusToken:
      return finite(left + right);
    case ts.SyntaxKind.AsteriskToken:
      return finite(left * right);
    default:
      return undefined;
  }
}

function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined;
}

/** Returns the value of an enum member that is used as a type: `WalletState.OPENED`. */
export function enumMemberValue(
  reading: Reading,
  source: ts.SourceFile,
  name: string,
): EnumValue | undefined {
  const dot = name.lastIndexOf('.');
  if (dot < 0) return undefined;
  const resolved = resolveName(reading.context, source, name.slice(0, dot));
  if (resolved.kind !== 'declared' || !ts.isEnumDeclaration(resolved.declaration)) return undefined;
  return readEnumValues(resolved.declaration)?.get(name.slice(dot + 1));
}

/**
 * Returns the type of a value: `typeof STATES`, `typeof STATES.open`; undefined if the source does not determine it.
 */
export function typeOfValue(reading: Reading, source: ts.SourceFile, name: string): ReadType | undefined {
  const resolved = resolveName(reading.context, source, name, 'value');
  if (resolved.kind === 'declared') {
    const { declaration } = resolved;
    if (ts.isEnumDeclaration(declaration)) return enumObject(declaration);
    return ts.isVariableDeclaration(declaration) ? typeOfVariable(reading, declaration) : undefined;
  }
  const dot = name.lastIndexOf('.');
  const owner = dot < 0 ? undefined : typeOfValue(reading, source, name.slice(0, dot));
  return owner?.type.kind === 'object'
    ? owner.type.fields.find((field) => field.name === name.slice(dot + 1))
    : undefined;
}

function enumObject(declaration: ts.EnumDeclaration): ReadType | undefined {
  const values = readEnumValues(declaration);
  if (values === undefined) return undefined;
  const fields = [...values].map(([name, value]) =>
    fieldOf(declaration, name, plain({ kind: 'enum', values: [value] })),
  );
  return plain({ kind: 'object', fields });
}

function typeOfVariable(reading: Reading, declaration: ts.VariableDeclaration): ReadType | undefined {
  const { type, initializer } = declaration;
  if (type !== undefined) return reading.read(reading, type);
  if (initializer === undefined) return undefined;
  const key = `${declaration.getSourceFile().fileName}#${declaration.pos}`;
  reading.opened.add(key);
  if (reading.open.has(key)) return undefined;
  const isConstant = (declaration.parent.flags & ts.NodeFlags.Const) !== 0;
  const inner = { ...reading, open: new Map([...reading.open, [key, key]]) };
  return typeOfExpression(inner, initializer, { isConst: false, isLiteral: isConstant });
}

interface Literalness {
  /** Inside `as const`: everything is literal and readonly. */
  readonly isConst: boolean;
  /** Literals keep their literal types, as in a `const`. */
  readonly isLiteral: boolean;
}

function typeOfExpression(reading: Reading, node: ts.Expression, kept: Literalness): ReadType | undefined {
  if (ts.isParenthesizedExpression(node) || ts.isSatisfiesExpression(node)) {
    return typeOfExpression(reading, node.expression, kept);
  }
  if (ts.isAsExpression(node)) {
    return node.type.getText() === 'const'
      ? typeOfExpression(reading, node.expression, { isConst: true, isLiteral: true })
      : reading.read(reading, node.type);
  }
  const frozen = frozenConstant(node);
  if (frozen !== undefined) return typeOfExpression(reading, frozen, kept);
  const literal = typeOfLiteral(node, kept);
  if (literal !== undefined) return literal;
  if (ts.isArrayLiteralExpression(node)) return typeOfArray(reading, node, kept);
  if (ts.isObjectLiteralExpression(node)) return typeOfObject(reading, node, kept);
  const isName = ts.isIdentifier(node) || ts.isPropertyAccessExpression(node);
  return isName ? typeOfValue(reading, node.getSourceFile(), node.getText()) : undefined;
}

/** Returns `['a', 'b'] as const` of `Object.freeze(['a', 'b'] as const)`. Both have the same type. */
function frozenConstant(node: ts.Expression): ts.Expression | undefined {
  if (!ts.isCallExpression(node) || node.expression.getText() !== 'Object.freeze') return undefined;
  const [argument] = node.arguments;
  const isConstant =
    argument !== undefined && ts.isAsExpression(argument) && argument.type.getText() === 'const';
  return isConstant ? argument : undefined;
}

function typeOfLiteral(node: ts.Expression, { isConst, isLiteral }: Literalness): ReadType | undefined {
  const value =
    node.kind === ts.SyntaxKind.TrueKeyword
      ? true
      : node.kind === ts.SyntaxKind.FalseKeyword
        ? false
        : literalValue(node, new Map());
  if (value !== undefined) {
    if (isConst || isLiteral) return plain({ kind: 'enum', values: [value] });
    return plain(widened(value));
  }
  return node.kind === ts.SyntaxKind.NullKeyword
    ? { type: { kind: 'void' }, nullable: true, optional: false }
    : undefined;
}

function widened(value: EnumValue): TypeSchema {
  if (typeof value === 'string') return { kind: 'string' };
  return typeof value === 'number' ? { kind: 'number' } : { kind: 'boolean' };
}

function typeOfArray(
  reading: Reading,
  { elements }: ts.ArrayLiteralExpression,
  kept: Literalness,
): ReadType | undefined {
  const items: ItemSchema[] = [];
  for (const element of elements) {
    const inner = { ...kept, isLiteral: kept.isConst };
    const spread = ts.isSpreadElement(element)
      ? typeOfExpression(reading, element.expression, inner)
      : undefined;
    if (spread?.type.kind === 'tuple') items.push(...spread.type.items);
    else {
      const read = ts.isSpreadElement(element) ? undefined : typeOfExpression(reading, element, inner);
      if (read === undefined) return undefined;
      items.push({ type: read.type, ...(read.nullable ? { nullable: true } : {}) });
    }
  }
  if (kept.isConst) return plain({ kind: 'tuple', items });
  const { type, nullable } = unite(
    items.map((item) => ({ ...plain(item.type), nullable: item.nullable === true })),
  );
  return plain({ kind: 'list', of: type, ...(nullable ? { nullable: true } : {}) });
}

/** Reads an object literal. Values that are not data (functions, calls) keep their names, for `keyof`. */
function typeOfObject(
  reading: Reading,
  node: ts.ObjectLiteralExpression,
  kept: Literalness,
): ReadType | undefined {
  const fields: FieldSchema[] = [];
  const inner = { ...kept, isLiteral: kept.isConst };
  for (const property of node.properties) {
    if (ts.isSpreadAssignment(property)) {
      const spread = typeOfExpression(reading, property.expression, inner);
      if (spread?.type.kind !== 'object') return undefined;
      fields.push(...spread.type.fields);
      continue;
    }
    const name = propertyName(property.name);
    if (name === undefined) return undefined;
    const value = ts.isPropertyAssignment(property)
      ? typeOfExpression(reading, property.initializer, inner)
      : ts.isShorthandPropertyAssignment(property)
        ? typeOfValue(reading, node.getSourceFile(), name)
        : undefined;
    fields.push(fieldOf(property, name, value ?? unsupportedText(property.getText())));
  }
  return plain({ kind: 'object', fields: mergeFields(fields) });
}

function fieldOf(node: ts.Node, name: string, { type, nullable, optional }: ReadType): FieldSchema {
  return { name, type, nullable, optional, tags: [], location: locationOf(node) };
}
