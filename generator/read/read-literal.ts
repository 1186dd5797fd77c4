import type { JsonValue } from '../schema/project-schema.js';
import { ts } from './compiler.js';
import { type ReadContext, report } from './read-context.js';
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
  if (ts.isArrayLiteralExpression(node)) {
    const values = node.elements.map((element) => readLiteral(context, element));
    return values.every((value) => value !== undefined) ? values : undefined;
  }
  if (ts.isObjectLiteralExpression(node)) return readObject(context, node);
  return reportNotLiteral(context, node);
}

/** What a literal must be. */
export interface Expected<T> {
  readonly isFit: (value: unknown) => value is T;
  readonly hint: string;
  /** What is said of another literal: `is not a string`. Default: it is not valid for its option. */
  readonly problem?: string;
}

/** Any text. */
export const TEXT: Required<Expected<string>> = {
  isFit: (value) => typeof value === 'string',
  problem: 'is not a string',
  hint: 'Write a string literal.',
};

/** `true` or `false`. */
export const FLAG: Expected<boolean> = {
  isFit: (value) => typeof value === 'boolean',
  hint: 'Write true or false.',
};

/** The stable name of a class or a principal. */
export const NAME: Expected<string> = {
  isFit: isStableName,
  hint: 'Write a string of 1 to 100 visible ASCII characters.',
};

/** Earlier names. */
export const NAMES: Expected<readonly string[]> = {
  isFit: (value) => Array.isArray(value) && value.every(isStableName),
  hint: 'Write a list of earlier names.',
};

function isStableName(value: unknown): value is string {
  return typeof value === 'string' && /^[!-~]{1,100}$/.test(value);
}

/** One of some texts. */
export function oneOf<T extends string>(...texts: readonly T[]): Expected<T> {
  const isFit = (value: unknown): value is T => texts.some((each) => each === value);
  return { isFit, hint: `Write ${texts.map((each) => `'${each}'`).join(' or ')}.` };
}

/** Whether a value is a whole number in a range. */
export function isWhole(value: unknown, least: number, most: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
}

/** Reads a literal. @returns undefined without a node, and, after a report, for a value that does not fit */
export function readFitting<T>(
  context: ReadContext,
  node: ts.Node | undefined,
  { isFit, problem, hint }: Required<Expected<T>>,
): T | undefined {
  const value = node && readLiteral(context, node);
  if (node === undefined || value === undefined) return undefined;
  if (isFit(value)) return value;
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

/** Returns the properties of an object literal by name, as nodes. Reports anything else, spreads and methods. */
export function readProperties(context: ReadContext, object: ts.Node): ReadonlyMap<string, ts.Expression> {
  const nodes = new Map<string, ts.Expression>();
  if (!ts.isObjectLiteralExpression(object)) reportNotLiteral(context, object);
  else
    for (const property of object.properties) {
      const name = ts.isPropertyAssignment(property) ? propertyName(property.name) : undefined;
      const value = ts.isPropertyAssignment(property) ? property.initializer : undefined;
      if (name === undefined || value === undefined) reportNotLiteral(context, property);
      else nodes.set(name, value);
    }
  return nodes;
}

/** Returns the elements of a list, as nodes. Reports anything else. */
export function readElements(context: ReadContext, list: ts.Node): readonly ts.Expression[] {
  if (!ts.isArrayLiteralExpression(list)) reportNotLiteral(context, list);
  return ts.isArrayLiteralExpression(list) ? list.elements : [];
}

/** Reports an expression whose value only execution could determine. */
function reportNotLiteral(context: ReadContext, node: ts.Node): undefined {
  const hint = 'Write the value itself: the generator reads decorators and never runs them.';
  report(context, 'FWGEN002', node, `${abbreviate(node.getText())} is not a literal`, hint);
}

/** Returns the first line of a text, shortened to at most 60 characters. */
export function abbreviate(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  return line.length > 60 ? `${line.slice(0, 57)}...` : line;
}

function readObject(context: ReadContext, node: ts.ObjectLiteralExpression): JsonValue | undefined {
  const entries = [...readProperties(context, node)].map(
    ([name, each]) => [name, readLiteral(context, each)] as const,
  );
  const known = entries.filter((entry): entry is readonly [string, JsonValue] => entry[1] !== undefined);
  return known.length === node.properties.length ? Object.fromEntries(known) : undefined;
}
