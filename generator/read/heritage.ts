import type { ts } from './compiler.js';
import type { ReadContext } from './read-context.js';
import { type Resolved, type ResolvedExpression, resolveExpression } from './resolver.js';
import { extendsClause } from './syntax.js';

/** The base class in an `extends` clause. */
export interface Heritage extends ResolvedExpression {
  readonly clause: ts.ExpressionWithTypeArguments;
}

/** Resolves the base class of `node`; undefined if there is none. */
export function readHeritage(context: ReadContext, node: ts.ClassLikeDeclaration): Heritage | undefined {
  const clause = extendsClause(node);
  if (clause === undefined) return undefined;
  const { resolved, expression, typeArguments } = resolveExpression(context, clause.expression);
  return { resolved, expression, clause, typeArguments: clause.typeArguments ?? typeArguments };
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
