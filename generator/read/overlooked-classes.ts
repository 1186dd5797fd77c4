import type { ClassForm } from './class-form.js';
import { ts } from './compiler.js';
import { type ReadContext, report, warn } from './read-context.js';
import { CLASS_MARKERS, calleeOf, decoratorName } from './read-decorator.js';
import { abbreviate } from './read-literal.js';
import { classOf, isOfFramework, resolveExpression, resolveName } from './resolver.js';
import { findBelow, isBase, isName, isValueDeclaration, methodNamed } from './syntax.js';
import { followLineage, leadsTo } from './types/lineage.js';

/** Base classes whose subclasses the generator must find. */
const BASES = ['Model', 'Entity', 'ModelEvent', 'Repository', 'Saga'];

/** Reports classes that the generator would skip silently, although they look like declarations of this package. */
export function reportOverlooked(context: ReadContext, form: ClassForm): void {
  reportComputedBase(context, form);
  const called = warnOfOwnDecorators(context, form);
  const { node, decorators } = form;
  if (isBase(node)) return;
  reportUnmarked(context, form, called);
  if (!handlesEvents(context, node) || decorators.has('FwEventHandler') || called.has('FwEventHandler'))
    return;
  const message = `${node.name?.text ?? 'A class'} handles events without @FwEventHandler`;
  const hint =
    'Mark it with @FwEventHandler, or make it abstract if it is only a base class: it receives no event.';
  warn(context, 'FWGEN066', node.name ?? node, message, hint);
}

/**
 * Reports a class that extends a call or another expression with one of these base classes. The generator does not
 * execute sources, so the base class is unknown. A marked class is reported for its wrong base instead.
 */
function reportComputedBase(context: ReadContext, { node, lineage, decorators }: ClassForm): void {
  const { heritage } = lineage;
  if (heritage === undefined || decorators.size > 0 || isName(heritage.expression)) return;
  const base = findBelow(heritage.expression, (each) => (leadsToBase(context, each) ? each : undefined));
  if (base === undefined) return;
  const name = node.name?.text ?? 'A class';
  const message = `${name} extends ${abbreviate(heritage.expression.getText())}, an expression that the generator cannot evaluate`;
  const hint =
    'Extend a class by its name. Declare an intermediate class if necessary: `abstract class Traced<M> extends ModelEvent<M> {}`.';
  report(context, 'FWGEN007', heritage.clause, message, hint);
}

/** Whether a node names one of these base classes, or a class of this project that extends one. */
export function leadsToBase(context: ReadContext, node: ts.Node): boolean {
  if (!ts.isIdentifier(node) && !ts.isPropertyAccessExpression(node)) return false;
  const { resolved } = resolveExpression(context, node);
  if (resolved.kind === 'framework') return BASES.includes(resolved.name);
  const base = classOf(resolved);
  return base !== undefined && leadsTo(followLineage(context, base), ...BASES);
}

/** Classes that need a marker. */
const MARKED = [
  {
    bases: ['Model', 'Entity'],
    marker: 'AutoBuilder',
    code: 'FWGEN011',
    hint: 'Mark it with @AutoBuilder, or make it abstract if it is only a base class. A model without @AutoBuilder has no builder and no table.',
  },
  {
    bases: ['Saga'],
    marker: 'FwSaga',
    code: 'FWGEN051',
    hint: 'Mark it with @FwSaga. Without it, no process runs the steps of its sagas.',
  },
  {
    bases: ['Action'],
    marker: 'FwAction',
    code: 'FWGEN065',
    hint: 'Mark it with @FwAction, or make it abstract if it is only a base class: the application lacks it.',
  },
] as const;

/** @param called markers that decorators of the project call */
function reportUnmarked(
  context: ReadContext,
  { node, lineage, decorators }: ClassForm,
  called: ReadonlySet<string>,
): void {
  for (const { bases, marker, code, hint } of MARKED) {
    if (!leadsTo(lineage, ...bases) || decorators.has(marker)) continue;
    const base = lineage.heritage?.clause.expression.getText();
    const message = `${node.name?.text ?? 'A class'} extends ${base} without @${marker}`;
    const place = node.name ?? node;
    if (marker !== 'FwAction') report(context, code, place, message, hint);
    // FWGEN033 reports a route of a class without @FwAction.
    else if (!called.has(marker) && !decorators.has('HttpRoute')) warn(context, code, place, message, hint);
  }
}

/** Whether a class implements `EventHandler`, or has a method `handle` with an `EventEnvelope`. */
function handlesEvents(context: ReadContext, node: ts.ClassDeclaration): boolean {
  const clause = node.heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ImplementsKeyword);
  if (clause?.types.some(({ expression }) => isOfFramework(context, expression, 'EventHandler')) === true)
    return true;
  const type = methodNamed(node, 'handle')?.parameters[0]?.type;
  return (
    type !== undefined &&
    ts.isTypeReferenceNode(type) &&
    isOfFramework(context, type.typeName, 'EventEnvelope')
  );
}

/** Warns about decorators of the project that call markers. @returns the called markers */
function warnOfOwnDecorators(context: ReadContext, { node }: ClassForm): ReadonlySet<string> {
  const called = new Set<string>();
  for (const modifier of node.modifiers ?? []) {
    if (!ts.isDecorator(modifier)) continue;
    const marker = markerCalledBy(context, modifier);
    if (marker === undefined) continue;
    called.add(marker);
    const message = `@${calleeOf(modifier).getText()} calls ${marker}, which has no effect there`;
    const hint = `Write @${marker} on ${node.name?.text ?? 'the class'} itself: the generator reads decorators and never runs them.`;
    warn(context, 'FWGEN068', modifier, message, hint);
  }
  return called;
}

/** The first marker that the function of a decorator refers to. */
function markerCalledBy(context: ReadContext, decorator: ts.Decorator): string | undefined {
  // `const Command = FwAction;` is another name of the decorator, which is read.
  if (decoratorName(context, decorator) !== undefined) return undefined;
  const resolved = resolveName(context, calleeOf(decorator), 'value');
  if (resolved.kind !== 'declared' || !isValueDeclaration(resolved.declaration)) return undefined;
  return findBelow(resolved.declaration, (node) => {
    if (!ts.isIdentifier(node) && !ts.isPropertyAccessExpression(node)) return undefined;
    const named = resolveExpression(context, node).resolved;
    return named.kind === 'framework' && CLASS_MARKERS.has(named.name) ? named.name : undefined;
  });
}
