import { ts } from './compiler.js';

/** A declaration at the top level of a file. */
export type Declaration =
  | ts.ClassDeclaration
  | ts.InterfaceDeclaration
  | ts.TypeAliasDeclaration
  | ts.EnumDeclaration
  | ValueDeclaration;

type ValueDeclaration = ts.VariableDeclaration | ts.FunctionDeclaration | ts.ModuleDeclaration;

/** Whether a node is a declaration that may stand at the top level of a file. */
export function isDeclaration(node: ts.Node): node is Declaration {
  return (
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isEnumDeclaration(node) ||
    isValueDeclaration(node)
  );
}

/** Whether a declaration is no type. */
export function isValueDeclaration(node: ts.Node): node is ValueDeclaration {
  return ts.isVariableDeclaration(node) || ts.isFunctionDeclaration(node) || ts.isModuleDeclaration(node);
}

/** Whether a class is abstract. An abstract class has no instances. */
export function isBase(node: ts.ClassDeclaration): boolean {
  return hasKeyword(node, ts.SyntaxKind.AbstractKeyword);
}

/** Returns a name as written, with its qualifiers. */
export function nameText(node: ts.Node): string {
  return ts.isIdentifier(node) ? node.text : node.getText();
}

/** Whether a node has this keyword. */
export function hasKeyword(node: ts.Node, keyword: ts.SyntaxKind): boolean {
  if (!ts.canHaveModifiers(node) || node.modifiers === undefined) return false;
  for (const modifier of node.modifiers) if (modifier.kind === keyword) return true;
  return false;
}

/** Returns `public`, `protected` or `private`. Default: `public`. */
export function scopeOf(node: ts.Node): 'public' | 'protected' | 'private' {
  if (hasKeyword(node, ts.SyntaxKind.PrivateKeyword)) return 'private';
  return hasKeyword(node, ts.SyntaxKind.ProtectedKeyword) ? 'protected' : 'public';
}

/** Whether a member of a class is not static. */
export function isInstanceMember(node: ts.Node): boolean {
  return !hasKeyword(node, ts.SyntaxKind.StaticKeyword);
}

/** Whether a variable is declared with `const`. */
export function isConst({ parent }: ts.VariableDeclaration): boolean {
  return (parent.flags & ts.NodeFlags.Const) !== 0;
}

/** Returns the name of a declaration; undefined for a default export without a name, and for a binding pattern. */
export function declaredName(declaration: Declaration): string | undefined {
  return declaration.name !== undefined && ts.isIdentifier(declaration.name)
    ? declaration.name.text
    : undefined;
}

/** Returns the static method, property or accessor with this name. */
export function staticMember(node: ts.ClassDeclaration, name: string): ts.ClassElement | undefined {
  return node.members.find((each) => !isInstanceMember(each) && each.name?.getText() === name);
}

/** Returns the first method with this name. */
export function methodNamed(node: ts.ClassDeclaration, name: string): ts.MethodDeclaration | undefined {
  return node.members.filter(ts.isMethodDeclaration).find((each) => each.name.getText() === name);
}

/** Returns the declared instance properties (`name: Type`) in source order, without private ones (`#name`). */
export function instanceProperties(node: ts.ClassDeclaration): readonly ts.PropertyDeclaration[] {
  const properties: ts.PropertyDeclaration[] = [];
  for (const member of node.members) {
    if (!ts.isPropertyDeclaration(member) || ts.isPrivateIdentifier(member.name)) continue;
    if (isInstanceMember(member)) properties.push(member);
  }
  return properties;
}

/** Returns all constructors, including overload signatures. */
export function constructorsOf(node: ts.ClassDeclaration): readonly ts.ConstructorDeclaration[] {
  return node.members.filter((member) => ts.isConstructorDeclaration(member));
}

/** Returns the constructor with a body, or else the first one. */
export function constructorOf(node: ts.ClassDeclaration): ts.ConstructorDeclaration | undefined {
  const all = constructorsOf(node);
  return all.find((each) => each.body !== undefined) ?? all[0];
}

/** Returns the constructor parameters that declare a field: `private readonly notes: NoteRepository`. */
export function parameterProperties(node: ts.ClassDeclaration): readonly ts.ParameterPropertyDeclaration[] {
  const parameters: readonly ts.Node[] = constructorOf(node)?.parameters ?? [];
  return parameters.filter((each) => ts.isParameterPropertyDeclaration(each, each.parent));
}

/** Returns the expression and type arguments of `extends`. */
export function extendsClause(node: ts.ClassLikeDeclaration): ts.ExpressionWithTypeArguments | undefined {
  return node.heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)?.types[0];
}

/** Returns an expression without enclosing parentheses, `as` and `satisfies`. */
export function bareExpression(node: ts.Expression): ts.Expression {
  const isWrapped =
    ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node);
  return isWrapped ? bareExpression(node.expression) : node;
}

/** Returns the class of this name at the top level of a file. */
export function classNamed(source: ts.SourceFile, name: string): ts.ClassDeclaration | undefined {
  return source.statements.filter(ts.isClassDeclaration).find((each) => each.name?.text === name);
}

/** Returns the first result for a node or one below it, in source order. */
export function findBelow<T>(node: ts.Node, find: (each: ts.Node) => T | undefined): T | undefined {
  return find(node) ?? ts.forEachChild(node, (child) => findBelow(child, find));
}

/** Whether an expression is a name, which may be qualified. */
export function isName(node: ts.Expression): boolean {
  return ts.isIdentifier(node) || ts.isPropertyAccessExpression(node);
}
