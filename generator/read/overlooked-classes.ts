import type { ClassForm } from './class-form.js';
import { ts } from './compiler.js';
import { type ReadContext, report } from './read-context.js';
import { abbreviate } from './read-literal.js';
import { resolveExpression } from './resolver.js';
import { isName } from './syntax.js';
import { followLineage, leadsTo } from './types/lineage.js';

/** Base classes whose subclasses the generator must find. */
const BASES = ['Model', 'Entity', 'ModelEvent', 'Repository', 'Saga'];

/**
 * Reports a class that extends a call or another expression with one of these base classes. The generator does not
 * execute sources, so the base class is unknown. A marked class is reported for its wrong base instead.
 */
export function reportComputedBase(context: ReadContext, { node, lineage, decorators }: ClassForm): void {
  const { heritage } = lineage;
  if (heritage === undefined || decorators.size > 0 || isName(heritage.expression)) return;
  if (!mentionsBase(context, heritage.expression)) return;
  const name = node.name?.text ?? 'A class';
  const message = `${name} extends ${abbreviate(heritage.expression.getText())}, an expression that the generator cannot evaluate`;
  const hint =
    'Extend a class by its name. Declare an intermediate class if necessary: `abstract class Traced<M> extends ModelEvent<M> {}`.';
  report(context, 'FWGEN007', heritage.clause, message, hint);
}

function mentionsBase(context: ReadContext, node: ts.Expression): boolean {
  let found = false;
  const visit = (each: ts.Node): void => {
    if (found || ts.isBlock(each)) return;
    if (ts.isIdentifier(each) || ts.isPropertyAccessExpression(each)) found = leadsToBase(context, each);
    ts.forEachChild(each, visit);
  };
  visit(node);
  return found;
}

/** Whether an expression names one of these base classes, or a class of this project that extends one. */
export function leadsToBase(context: ReadContext, node: ts.Expression): boolean {
  const { resolved } = resolveExpression(context, node);
  if (resolved.kind === 'framework') return BASES.includes(resolved.name);
  return (
    resolved.kind === 'declared' &&
    ts.isClassDeclaration(resolved.declaration) &&
    leadsTo(followLineage(context, resolved.declaration), ...BASES)
  );
}
