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
 * Checks the form of a class that generated code imports: exported under its own name, concrete, not generic.
 * @returns its name; undefined for a class without a name
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

/** Whether a class is abstract. An abstract class has no instances. */
export function isBase(node: ts.ClassDeclaration): boolean {
  return hasKeyword(node, ts.SyntaxKind.AbstractKeyword);
}

/** A class with its decorators and base class, which determine its kind. */
export interface ClassForm {
  readonly node: ts.ClassDeclaration;
  readonly heritage: Heritage | undefined;
  readonly decorators: ClassDecorators;
}

/** Reads the decorators and the base class of a class. Reports a repeated decorator. */
export function readClassForm(context: ReadContext, node: ts.ClassDeclaration): ClassForm {
  return { node, heritage: readHeritage(context, node), decorators: readDecorators(context, node) };
}

/** The base class in an `extends` clause. */
export interface Heritage extends ResolvedExpression {
  readonly clause: ts.ExpressionWithTypeArguments;
}

/** Resolves the base class of `node`; undefined if there is none. */
export function readHeritage(context: ReadContext, node: ts.ClassLikeDeclaration): Heritage | undefined {
  const clause = extendsClause(node);
  if (clause === undefined) return undefined;
  const base = resolveExpression(context, clause.expression);
  return { ...base, clause, typeArguments: clause.typeArguments ?? base.typeArguments };
}

/**
 * Whether a base class may derive from this class of this package. False without a base class, and for another class of
 * this package.
 */
export function mayLeadTo(heritage: Heritage | undefined, name: string): heritage is Heritage {
  if (heritage === undefined) return false;
  const { resolved } = heritage;
  return resolved.kind === 'framework' ? resolved.name === name : resolved.kind === 'declared';
}

/** A base class that belongs to this package. */
export interface FrameworkHeritage extends Heritage {
  readonly resolved: Extract<Resolved, { kind: 'framework' }>;
}

/** Whether the base class is a class of this package with one of these names. */
export function extendsFramework(
  heritage: Heritage | undefined,
  ...names: readonly string[]
): heritage is FrameworkHeritage {
  return heritage?.resolved.kind === 'framework' && names.includes(heritage.resolved.name);
}

/** Whether generated code can call the constructor: it is neither `private` nor `protected`. */
export function hasPublicConstructor(node: ts.ClassDeclaration): boolean {
  return constructorsOf(node).every((each) => scopeOf(each) === 'public');
}
