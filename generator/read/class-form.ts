import { ts } from './compiler.js';
import { type ReadContext, report } from './read-context.js';
import { type ClassDecorators, readDecorators } from './read-decorator.js';
import {
  type Resolved,
  type ResolvedExpression,
  referenceToDeclaration,
  resolveExpression,
} from './resolver.js';
import { constructorsOf, extendsClause, hasKeyword, scopeOf } from './syntax.js';

/**
 * Checks what every class that generated code imports must be: exported under its own name, concrete, not generic.
 * @returns its name, or undefined if it has none
 */
export function readClassName(context: ReadContext, node: ts.ClassDeclaration): string | undefined {
  const name = node.name?.text;
  const place = node.name ?? node;
  const label = name ?? 'A class without a name';
  if (name === undefined || referenceToDeclaration(node)?.name !== name) {
    report(
      context,
      'FWGEN008',
      place,
      `${label} is not exported under its own name`,
      `Write \`export class ${name ?? 'Name'}\`: generated code imports it by name, a default export has none.`,
    );
    return undefined;
  }
  if (isBase(node)) {
    report(
      context,
      'FWGEN009',
      place,
      `${name} is abstract`,
      'Make it concrete: generated code makes instances of it.',
    );
  }
  if ((node.typeParameters?.length ?? 0) > 0) {
    report(
      context,
      'FWGEN009',
      place,
      `${name} is generic`,
      'Remove its type parameters: a table, event or action has one shape.',
    );
  }
  return name;
}

/** True for an abstract class, which others extend: nothing makes instances of it. */
export function isBase(node: ts.ClassDeclaration): boolean {
  return hasKeyword(node, ts.SyntaxKind.AbstractKeyword);
}

/** A class with its decorators and base class, which determine its kind. */
export interface ClassForm {
  readonly node: ts.ClassDeclaration;
  readonly heritage: Heritage | undefined;
  readonly decorators: ClassDecorators;
}

/** Looks up what a class carries and extends. A decorator that stands there twice is reported. */
export function readClassForm(context: ReadContext, node: ts.ClassDeclaration): ClassForm {
  return { node, heritage: readHeritage(context, node), decorators: readDecorators(context, node) };
}

/** What a class extends. */
export interface Heritage extends ResolvedExpression {
  readonly clause: ts.ExpressionWithTypeArguments;
}

/** The class that `node` extends, resolved; undefined if there is none. */
export function readHeritage(context: ReadContext, node: ts.ClassLikeDeclaration): Heritage | undefined {
  const clause = extendsClause(node);
  if (clause === undefined) return undefined;
  const base = resolveExpression(context, clause.expression);
  return { ...base, clause, typeArguments: clause.typeArguments ?? base.typeArguments };
}

/** False if a class cannot lead to this class of this package: it extends another one of this package, or none. */
export function mayLeadTo(heritage: Heritage | undefined, name: string): heritage is Heritage {
  if (heritage === undefined) return false;
  const { resolved } = heritage;
  return resolved.kind === 'framework' ? resolved.name === name : resolved.kind === 'declared';
}

/** What a class extends, if that is a class of this package. */
export interface FrameworkHeritage extends Heritage {
  readonly resolved: Extract<Resolved, { kind: 'framework' }>;
}

/** True if `heritage` is a class of this package with one of these names. */
export function extendsFramework(
  heritage: Heritage | undefined,
  ...names: readonly string[]
): heritage is FrameworkHeritage {
  return heritage?.resolved.kind === 'framework' && names.includes(heritage.resolved.name);
}

/** True for a class that generated code can make: no `private` or `protected` constructor. */
export function hasPublicConstructor(node: ts.ClassDeclaration): boolean {
  return constructorsOf(node).every((each) => scopeOf(each) === 'public');
}
