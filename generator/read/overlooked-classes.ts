import { type ClassForm, isBase } from './class-form.js';
import { ts } from './compiler.js';
import { readHeritage } from './heritage.js';
import { hasMarker, reportNested } from './nested-classes.js';
import { type ReadContext, report } from './read-context.js';
import { abbreviate } from './read-literal.js';
import { resolveExpression } from './resolver.js';
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
  report(
    context,
    'FWGEN007',
    heritage.clause,
    `${name} extends ${abbreviate(heritage.expression.getText())}, an expression that the generator cannot evaluate`,
    'Extend a class by its name. Declare an intermediate class if necessary: `abstract class Traced<M> extends ModelEvent<M> {}`.',
  );
}

function isName(node: ts.Expression): boolean {
  return ts.isIdentifier(node) || ts.isPropertyAccessExpression(node);
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

function leadsToBase(context: ReadContext, node: ts.Expression): boolean {
  const { resolved } = resolveExpression(context, node);
  if (resolved.kind === 'framework') return BASES.includes(resolved.name);
  return (
    resolved.kind === 'declared' &&
    ts.isClassDeclaration(resolved.declaration) &&
    leadsTo(followLineage(context, resolved.declaration), ...BASES)
  );
}

/**
 * Reports unmarked classes in namespaces and expressions that extend one of these base classes. Classes in functions
 * are local on purpose.
 */
export function reportNestedSubclasses(context: ReadContext, source: ts.SourceFile): void {
  for (const node of nestedSubclasses(source)) {
    const heritage = readHeritage(context, node);
    if (heritage === undefined || hasMarker(context, node)) continue;
    if (ts.isClassDeclaration(node) && isBase(node)) continue;
    if (!leadsToBase(context, heritage.clause.expression)) continue;
    reportNested(context, node, `extends ${heritage.clause.expression.getText()}`);
  }
}

/**
 * Finds classes with a base class, except top-level statements. Searches the text first, because most files have none.
 */
function nestedSubclasses(source: ts.SourceFile): readonly ts.ClassLikeDeclaration[] {
  const { text } = source;
  const known = new Set<number>();
  for (const statement of source.statements) {
    if (!ts.isClassDeclaration(statement) && !ts.isInterfaceDeclaration(statement)) continue;
    for (const clause of statement.heritageClauses ?? []) known.add(clause.getStart(source));
  }
  const found: ts.ClassLikeDeclaration[] = [];
  for (let at = text.indexOf(EXTENDS); at >= 0; at = text.indexOf(EXTENDS, at + EXTENDS.length)) {
    const node = known.has(at) ? undefined : subclassAt(source, at);
    if (node !== undefined) found.push(node);
  }
  return found;
}

const EXTENDS = 'extends ';

/** Returns the class whose `extends` is at a position; undefined if it is local to a block or a function. */
function subclassAt(source: ts.SourceFile, at: number): ts.ClassLikeDeclaration | undefined {
  let node: ts.Node | undefined = source;
  while (node !== undefined && !(ts.isHeritageClause(node) && node.getStart(source) === at)) {
    if (ts.isBlock(node) || ts.isFunctionLike(node)) return undefined;
    node = ts.forEachChild(node, (child) => (child.pos <= at && at < child.end ? child : undefined));
  }
  return node !== undefined && ts.isClassLike(node.parent) ? node.parent : undefined;
}
