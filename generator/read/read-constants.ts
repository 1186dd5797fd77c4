import { ts } from './compiler.js';
import type { ReadContext } from './read-context.js';
import { propertyName } from './read-literal.js';
import { resolveName } from './resolver.js';

/** The values of a string enum; undefined if a member has none, or one that is no string literal. */
export function readEnumValues(declaration: ts.EnumDeclaration): readonly string[] | undefined {
  const values = declaration.members.map((member) => stringValue(member.initializer));
  return values.length > 0 && values.every((value) => value !== undefined) ? values : undefined;
}

/** The value of a member named as a type: `WalletState.OPENED`. */
export function enumMemberValue(
  context: ReadContext,
  source: ts.SourceFile,
  name: string,
): string | undefined {
  if (!name.includes('.')) return undefined;
  const [enumName, memberName, ...rest] = name.split('.');
  if (enumName === undefined || memberName === undefined || rest.length > 0) return undefined;
  const resolved = resolveName(context, source, enumName);
  if (resolved.kind !== 'declared' || !ts.isEnumDeclaration(resolved.declaration)) return undefined;
  const member = resolved.declaration.members.find(({ name }) => propertyName(name) === memberName);
  return stringValue(member?.initializer);
}

/**
 * The strings behind `(typeof STATES)[number]` (an array declared `as const`) and
 * `(typeof State)[keyof typeof State]` (an object declared `as const`).
 */
export function readConstantValues(
  context: ReadContext,
  node: ts.IndexedAccessTypeNode,
): readonly string[] | undefined {
  const constant = unwrapParentheses(node.objectType);
  if (!ts.isTypeQueryNode(constant)) return undefined;
  const resolved = resolveName(context, node.getSourceFile(), constant.exprName.getText());
  const variable = resolved.kind === 'declared' ? resolved.declaration : undefined;
  const initializer =
    variable !== undefined && ts.isVariableDeclaration(variable) ? variable.initializer : undefined;
  if (initializer === undefined || !ts.isAsExpression(initializer)) return undefined;
  if (initializer.type.getText() !== 'const') return undefined;
  return constantStrings(initializer.expression, node.indexType, constant.getText());
}

function constantStrings(value: ts.Node, index: ts.Node, query: string): readonly string[] | undefined {
  if (ts.isArrayLiteralExpression(value) && index.kind === ts.SyntaxKind.NumberKeyword) {
    return allStrings(value.elements);
  }
  const isKeyOf = index.getText().replace(/\s+/g, ' ') === `keyof ${query.replace(/\s+/g, ' ')}`;
  if (!ts.isObjectLiteralExpression(value) || !isKeyOf) return undefined;
  return allStrings(
    value.properties.map((property) =>
      ts.isPropertyAssignment(property) && propertyName(property.name) !== undefined
        ? property.initializer
        : undefined,
    ),
  );
}

function allStrings(nodes: readonly (ts.Node | undefined)[]): readonly string[] | undefined {
  const values = nodes.map(stringValue);
  return values.length > 0 && values.every((value) => value !== undefined) ? values : undefined;
}

function stringValue(node: ts.Node | undefined): string | undefined {
  return node !== undefined && ts.isStringLiteralLike(node) ? node.text : undefined;
}

function unwrapParentheses(node: ts.Node): ts.Node {
  return ts.isParenthesizedTypeNode(node) ? unwrapParentheses(node.type) : node;
}
