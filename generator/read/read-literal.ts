import type { JsonValue, Located } from '../schema/project-schema.js';
import { ts } from './compiler.js';
import { type ReadContext, report } from './read-context.js';
import { locationOf } from './source-files.js';
import { bareExpression } from './syntax.js';

/**
 * Returns the value of a literal expression. Reports any other expression and returns undefined. Nothing is evaluated.
 */
export function readLiteral(context: ReadContext, given: ts.Node): JsonValue | undefined {
  const node = ts.isExpression(given) ? bareExpression(given) : given;
  if (ts.isStringLiteralLike(node)) return node.text;
  // A literal that is too large for a number is Infinity, which JSON cannot represent.
  if (ts.isNumericLiteral(node) && Number.isFinite(Number(node.text))) return Number(node.text);
  if (node.kind === ts.SyntaxKind.TrueKeyword) return true;
  if (node.kind === ts.SyntaxKind.FalseKeyword) return false;
  if (node.kind === ts.SyntaxKind.NullKeyword) return null;
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.MinusToken) {
    if (ts.isNumericLiteral(node.operand)) return -Number(node.operand.text);
  }
  if (ts.isArrayLiteralExpression(node)) return readArray(context, node.elements);
  if (ts.isObjectLiteralExpression(node)) return readObject(context, node.properties);
  return reportNotLiteral(context, node);
}

/** What a literal must be. */
export interface Expected<T> {
  readonly isFit: (value: unknown) => value is T;
  /** What is said of another literal: `is not a string`. */
  readonly problem: string;
  readonly hint: string;
}

/** Any text. */
export const TEXT: Expected<string> = {
  isFit: (value) => typeof value === 'string',
  problem: 'is not a string',
  hint: 'Write a string literal.',
};

/** Reads a literal. @returns undefined without a node, and, after a report, for a value that does not fit */
export function readFitting<T>(
  context: ReadContext,
  node: ts.Node | undefined,
  { isFit, problem, hint }: Expected<T>,
): Located<T> | undefined {
  const value = node && readLiteral(context, node);
  if (node === undefined || value === undefined) return undefined;
  if (isFit(value)) return { value, location: locationOf(node) };
  return report(context, 'FWGEN002', node, `${node.getText()} ${problem}`, hint);
}

/** Returns the name of a property or member; undefined if it is computed or private. */
export function propertyName(name: ts.Node): string | undefined {
  if (ts.isIdentifier(name)) return name.text;
  if (ts.isStringLiteralLike(name)) return name.text;
  if (ts.isNumericLiteral(name)) return String(Number(name.text));
  return ts.isComputedPropertyName(name) && ts.isStringLiteralLike(name.expression)
    ? name.expression.text
    : undefined;
}

/** Returns the properties of an object literal by name, as nodes. Reports spreads and methods. */
export function literalProperties(
  context: ReadContext,
  properties: readonly ts.Node[],
): ReadonlyMap<string, ts.Expression> {
  const nodes = new Map<string, ts.Expression>();
  for (const property of properties) {
    const name = ts.isPropertyAssignment(property) ? propertyName(property.name) : undefined;
    const value = ts.isPropertyAssignment(property) ? property.initializer : undefined;
    if (name === undefined || value === undefined) reportNotLiteral(context, property);
    else nodes.set(name, value);
  }
  return nodes;
}

/** Reports an expression whose value only execution could determine. */
export function reportNotLiteral(context: ReadContext, node: ts.Node): undefined {
  const hint = 'Write the value itself: the generator reads decorators and never runs them.';
  report(context, 'FWGEN002', node, `${abbreviate(node.getText())} is not a literal`, hint);
}

/** Returns the first line of a text, shortened to at most 60 characters. */
export function abbreviate(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  return line.length > 60 ? `${line.slice(0, 57)}...` : line;
}

function readArray(context: ReadContext, elements: readonly ts.Node[]): JsonValue | undefined {
  const values = elements.map((element) => readLiteral(context, element));
  return values.every((value) => value !== undefined) ? values : undefined;
}

function readObject(context: ReadContext, properties: readonly ts.Node[]): JsonValue | undefined {
  const entries = [...literalProperties(context, properties)].map(
    ([name, node]) => [name, readLiteral(context, node)] as const,
  );
  const known = entries.filter((entry): entry is readonly [string, JsonValue] => entry[1] !== undefined);
  return known.length === properties.length ? Object.fromEntries(known) : undefined;
}
