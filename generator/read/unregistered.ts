import type { ClassForm } from './class-form.js';
import { ts } from './compiler.js';
import { CLASS_MARKERS } from './misplaced-decorators.js';
import { type ReadContext, warn } from './read-context.js';
import { calleeOf, decoratorName } from './read-decorator.js';
import { isOfFramework, resolveExpression, resolveName } from './resolver.js';
import { isBase, isValueDeclaration, nameText } from './syntax.js';
import { leadsTo } from './types/lineage.js';

/** Warns about a class that the generator would skip silently, although it looks like an action or a handler. */
export function warnOfUnregistered(context: ReadContext, form: ClassForm): void {
  const called = warnOfOwnDecorators(context, form);
  const { node, lineage, decorators } = form;
  if (isBase(node)) return;
  const name = node.name?.text ?? 'A class';
  const isMarked = (marker: string): boolean => decorators.has(marker) || called.has(marker);
  // FWGEN033 reports a route of a class without @FwAction.
  if (leadsTo(lineage, 'Action') && !isMarked('FwAction') && !decorators.has('HttpRoute')) {
    const base = lineage.heritage?.clause.expression.getText() ?? 'Action';
    const message = `${name} extends ${base} without @FwAction`;
    const hint =
      'Mark it with @FwAction, or make it abstract if it is only a base class: the application lacks it.';
    warn(context, 'FWGEN065', node.name ?? node, message, hint);
  }
  if (handlesEvents(context, node) && !isMarked('FwEventHandler')) {
    const hint =
      'Mark it with @FwEventHandler, or make it abstract if it is only a base class: it receives no event.';
    warn(context, 'FWGEN066', node.name ?? node, `${name} handles events without @FwEventHandler`, hint);
  }
}

/** Whether a class implements `EventHandler`, or has a method `handle` with an `EventEnvelope`. */
function handlesEvents(context: ReadContext, node: ts.ClassDeclaration): boolean {
  const clause = node.heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ImplementsKeyword);
  if (clause?.types.some(({ expression }) => isOfFramework(context, expression, 'EventHandler')) === true)
    return true;
  return node.members.some((member) => {
    if (!ts.isMethodDeclaration(member) || member.name.getText() !== 'handle') return false;
    const type = member.parameters[0]?.type;
    return (
      type !== undefined &&
      ts.isTypeReferenceNode(type) &&
      isOfFramework(context, type.typeName, 'EventEnvelope')
    );
  });
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

function markerCalledBy(context: ReadContext, decorator: ts.Decorator): string | undefined {
  // `const Command = FwAction;` is another name of the decorator, which is read.
  if (decoratorName(context, decorator) !== undefined) return undefined;
  const resolved = resolveName(context, decorator.getSourceFile(), nameText(calleeOf(decorator)), 'value');
  return resolved.kind === 'declared' && isValueDeclaration(resolved.declaration)
    ? markerIn(context, resolved.declaration)
    : undefined;
}

/** The first marker that a function refers to. */
function markerIn(context: ReadContext, body: ts.Node): string | undefined {
  let found: string | undefined;
  const visit = (node: ts.Node): void => {
    if (found !== undefined) return;
    if (ts.isIdentifier(node) || ts.isPropertyAccessExpression(node)) {
      const { resolved } = resolveExpression(context, node);
      if (resolved.kind === 'framework' && CLASS_MARKERS.has(resolved.name)) found = resolved.name;
    }
    ts.forEachChild(node, visit);
  };
  visit(body);
  return found;
}
