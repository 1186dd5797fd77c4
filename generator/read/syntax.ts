import { ts } from './compiler.js';

/** A declaration at the top level of a file. */
export type Declaration =
  | ts.ClassDeclaration
  | ts.InterfaceDeclaration
  | ts.TypeAliasDeclaration
  | ts.EnumDeclaration
  | ts.VariableDeclaration;

/** A name as it is written, with its qualifiers. */
export function nameText(node: ts.Node): string {
  return ts.isIdentifier(node) ? node.text : node.getText();
}

/** True if the node carries this keyword. */
export function hasKeyword(node: ts.Node, keyword: ts.SyntaxKind): boolean {
  if (!ts.canHaveModifiers(node) || node.modifiers === undefined) return false;
  for (const modifier of node.modifiers) if (modifier.kind === keyword) return true;
  return false;
}

/** `public`, `protected` or `private`, as the keywords say. */
export function scopeOf(node: ts.Node): 'public' | 'protected' | 'private' {
  if (hasKeyword(node, ts.SyntaxKind.PrivateKeyword)) return 'private';
  return hasKeyword(node, ts.SyntaxKind.ProtectedKeyword) ? 'protected' : 'public';
}

/** True for a member of instances. */
export function isInstanceMember(node: ts.ClassElement): boolean {
  return !hasKeyword(node, ts.SyntaxKind.StaticKeyword);
}

/** The name of a declaration; undefined for a default export without one, and for a binding pattern. */
export function declaredName(declaration: Declaration): string | undefined {
  return declaration.name !== undefined && ts.isIdentifier(declaration.name)
    ? declaration.name.text
    : undefined;
}

/** The static method, property or accessor of this name that a class declares. */
export function staticMember(node: ts.ClassDeclaration, name: string): ts.ClassElement | undefined {
  return node.members.find((each) => !isInstanceMember(each) && each.name?.getText() === name);
}

/** Declared instance properties (`name: Type`), private ones (`#name`) excluded, in source order. */
export function instanceProperties(node: ts.ClassDeclaration): readonly ts.PropertyDeclaration[] {
  const properties: ts.PropertyDeclaration[] = [];
  for (const member of node.members) {
    if (!ts.isPropertyDeclaration(member) || ts.isPrivateIdentifier(member.name)) continue;
    if (isInstanceMember(member)) properties.push(member);
  }
  return properties;
}

/** Constructors, overload signatures included. */
export function constructorsOf(node: ts.ClassDeclaration): readonly ts.ConstructorDeclaration[] {
  return node.members.filter((member) => ts.isConstructorDeclaration(member));
}

/** The constructor that has a body, else the first one. */
export function constructorOf(node: ts.ClassDeclaration): ts.ConstructorDeclaration | undefined {
  const all = constructorsOf(node);
  return all.find((each) => each.body !== undefined) ?? all[0];
}

/** The expression and type arguments behind `extends`. */
export function extendsClause(node: ts.ClassLikeDeclaration): ts.ExpressionWithTypeArguments | undefined {
  return node.heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)?.types[0];
}

/** An expression without parentheses, `as` and `satisfies` around it. */
export function bareExpression(node: ts.Expression): ts.Expression {
  const isWrapped =
    ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node);
  return isWrapped ? bareExpression(node.expression) : node;
}

/** Classes at the top level of a file. */
export function classesOf(source: ts.SourceFile): readonly ts.ClassDeclaration[] {
  return source.statements.filter((statement) => ts.isClassDeclaration(statement));
}
