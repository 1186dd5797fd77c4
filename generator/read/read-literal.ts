import { Node, SyntaxKind } from 'ts-morph';
import type { JsonValue } from '../schema/json-value.js';
import { type ReadContext, report } from './read-context.js';

/** The value of a literal expression; anything else is reported and gives undefined. Nothing is ever evaluated. */
export function readLiteral(context: ReadContext, node: Node): JsonValue | undefined {
  if (Node.isStringLiteral(node) || Node.isNoSubstitutionTemplateLiteral(node)) return node.getLiteralText();
  if (Node.isNumericLiteral(node)) return node.getLiteralValue();
  if (Node.isTrueLiteral(node)) return true;
  if (Node.isFalseLiteral(node)) return false;
  if (Node.isNullLiteral(node)) return null;
  if (Node.isPrefixUnaryExpression(node) && node.getOperatorToken() === SyntaxKind.MinusToken) {
    const operand = node.getOperand();
    if (Node.isNumericLiteral(operand)) return -operand.getLiteralValue();
  }
  if (Node.isArrayLiteralExpression(node)) return readArray(context, node.getElements());
  if (Node.isObjectLiteralExpression(node)) return readObject(context, node.getProperties());
  if (Node.isAsExpression(node) || Node.isSatisfiesExpression(node) || Node.isParenthesizedExpression(node)) {
    return readLiteral(context, node.getExpression());
  }
  reportNotLiteral(context, node);
  return undefined;
}

/** The name of a property or member as a value; undefined if it is computed or private. */
export function propertyName(name: Node): string | undefined {
  if (Node.isIdentifier(name)) return name.compilerNode.text;
  if (Node.isStringLiteral(name) || Node.isNoSubstitutionTemplateLiteral(name)) return name.getLiteralText();
  if (Node.isNumericLiteral(name)) return String(name.getLiteralValue());
  return undefined;
}

/** The properties of an object literal by name, as nodes; others (spreads, methods) are reported. */
export function literalProperties(
  context: ReadContext,
  properties: readonly Node[],
): ReadonlyMap<string, Node> {
  const nodes = new Map<string, Node>();
  for (const property of properties) {
    const name = Node.isPropertyAssignment(property) ? propertyName(property.getNameNode()) : undefined;
    const value = Node.isPropertyAssignment(property) ? property.getInitializer() : undefined;
    if (name === undefined || value === undefined) reportNotLiteral(context, property);
    else nodes.set(name, value);
  }
  return nodes;
}

/** Reports an expression that would have to be run to be known. */
export function reportNotLiteral(context: ReadContext, node: Node): void {
  report(
    context,
    'FWGEN002',
    node,
    `${abbreviate(node.getText())} is not a literal`,
    'Write the value itself: the generator reads decorators, it never runs them.',
  );
}

/** The first line of a text, cut to a readable length. */
export function abbreviate(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  return line.length > 60 ? `${line.slice(0, 57)}...` : line;
}

function readArray(context: ReadContext, elements: readonly Node[]): JsonValue | undefined {
  const values = elements.map((element) => readLiteral(context, element));
  return values.every((value) => value !== undefined) ? values : undefined;
}

function readObject(context: ReadContext, properties: readonly Node[]): JsonValue | undefined {
  const entries = [...literalProperties(context, properties)].map(
    ([name, node]) => [name, readLiteral(context, node)] as const,
  );
  const known = entries.filter((entry): entry is readonly [string, JsonValue] => entry[1] !== undefined);
  return known.length === properties.length ? Object.fromEntries(known) : undefined;
}
