import {
  type EnumDeclaration,
  type IndexedAccessTypeNode,
  Node,
  type SourceFile,
  SyntaxKind,
} from 'ts-morph';
import type { ReadContext } from './read-context.js';
import { propertyName } from './read-literal.js';
import { resolveName } from './resolver.js';

/** The values of a string enum; undefined if a member has none, or one that is no string literal. */
export function readEnumValues(declaration: EnumDeclaration): readonly string[] | undefined {
  const values = declaration.getMembers().map((member) => stringValue(member.getInitializer()));
  return values.length > 0 && values.every((value) => value !== undefined) ? values : undefined;
}

/** The value of a member named as a type: `WalletState.OPENED`. */
export function enumMemberValue(context: ReadContext, source: SourceFile, name: string): string | undefined {
  const [enumName, memberName, ...rest] = name.split('.');
  if (enumName === undefined || memberName === undefined || rest.length > 0) return undefined;
  const resolved = resolveName(context, source, enumName);
  if (resolved.kind !== 'declared' || !Node.isEnumDeclaration(resolved.declaration)) return undefined;
  return stringValue(resolved.declaration.getMember(memberName)?.getInitializer());
}

/**
 * The strings behind `(typeof STATES)[number]` (an array declared `as const`) and
 * `(typeof State)[keyof typeof State]` (an object declared `as const`).
 */
export function readConstantValues(
  context: ReadContext,
  node: IndexedAccessTypeNode,
): readonly string[] | undefined {
  const constant = unwrapParentheses(node.getObjectTypeNode());
  if (!Node.isTypeQuery(constant)) return undefined;
  const resolved = resolveName(context, node.getSourceFile(), constant.getExprName().getText());
  const variable = resolved.kind === 'declared' ? resolved.declaration : undefined;
  const initializer = Node.isVariableDeclaration(variable) ? variable.getInitializer() : undefined;
  if (!Node.isAsExpression(initializer) || initializer.getTypeNode()?.getText() !== 'const') return undefined;
  return constantStrings(initializer.getExpression(), node.getIndexTypeNode(), constant.getText());
}

function constantStrings(value: Node, index: Node, query: string): readonly string[] | undefined {
  if (Node.isArrayLiteralExpression(value) && index.getKind() === SyntaxKind.NumberKeyword) {
    return allStrings(value.getElements());
  }
  const isKeyOf = index.getText().replace(/\s+/g, ' ') === `keyof ${query.replace(/\s+/g, ' ')}`;
  if (!Node.isObjectLiteralExpression(value) || !isKeyOf) return undefined;
  return allStrings(
    value
      .getProperties()
      .map((property) =>
        Node.isPropertyAssignment(property) && propertyName(property.getNameNode()) !== undefined
          ? property.getInitializer()
          : undefined,
      ),
  );
}

function allStrings(nodes: readonly (Node | undefined)[]): readonly string[] | undefined {
  const values = nodes.map(stringValue);
  return values.length > 0 && values.every((value) => value !== undefined) ? values : undefined;
}

function stringValue(node: Node | undefined): string | undefined {
  if (Node.isStringLiteral(node) || Node.isNoSubstitutionTemplateLiteral(node)) return node.getLiteralText();
  return undefined;
}

function unwrapParentheses(node: Node): Node {
  return Node.isParenthesizedTypeNode(node) ? unwrapParentheses(node.getTypeNode()) : node;
}
