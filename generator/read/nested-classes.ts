import { ts } from './compiler.js';
import { reportMisplaced } from './misplaced-decorators.js';
import { leadsToBase } from './overlooked-classes.js';
import { type ReadContext, report } from './read-context.js';
import { decoratorName } from './read-decorator.js';
import { isBase } from './syntax.js';
import { readHeritage } from './types/lineage.js';

/** Decorators of classes that generated code imports. */
const MARKERS: ReadonlySet<string> = new Set(['AutoBuilder', 'FwAction', 'FwEventHandler', 'FwSaga']);

/**
 * Reports marked classes inside functions, namespaces and expressions, unmarked ones that extend a class of this
 * package, and misplaced decorators. An unmarked class in a function is local on purpose.
 */
export function reportNestedClasses(context: ReadContext, source: ts.SourceFile): void {
  const visit = (node: ts.Node, isLocal: boolean): void => {
    if (ts.isDecorator(node)) reportMisplaced(context, node);
    if (ts.isClassLike(node) && node.parent !== source) reportNested(context, node, isLocal);
    const isInside = isLocal || ts.isBlock(node) || ts.isFunctionLike(node);
    ts.forEachChild(node, (child) => visit(child, isInside));
  };
  visit(source, false);
}

function reportNested(context: ReadContext, node: ts.ClassLikeDeclaration, isLocal: boolean): void {
  const problem = problemOf(context, node, isLocal);
  if (problem === undefined) return;
  const variable = ts.isVariableDeclaration(node.parent) ? node.parent.name.getText() : undefined;
  const name = node.name?.text ?? variable;
  const message = `${name ?? 'A class without a name'} ${problem} inside another declaration`;
  const hint = `Write \`export class ${name ?? 'Name'}\` at the top level of a file: generated code imports it by name.`;
  report(context, 'FWGEN008', node.name ?? node, message, hint);
}

function problemOf(
  context: ReadContext,
  node: ts.ClassLikeDeclaration,
  isLocal: boolean,
): string | undefined {
  const names = node.modifiers?.map((each) => decoratorName(context, each) ?? '') ?? [];
  const marker = names.find((name) => MARKERS.has(name));
  if (marker !== undefined) return `is marked with @${marker}`;
  if (isLocal || (ts.isClassDeclaration(node) && isBase(node))) return undefined;
  const base = readHeritage(context, node)?.clause.expression;
  return base !== undefined && leadsToBase(context, base) ? `extends ${base.getText()}` : undefined;
}
