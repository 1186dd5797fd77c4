import { ts } from './compiler.js';
import { leadsToBase } from './overlooked-classes.js';
import { type ReadContext, report } from './read-context.js';
import { CLASS_MARKERS, decoratorName, decoratorNamed } from './read-decorator.js';
import { extendsClause, instanceProperties, isBase } from './syntax.js';
import { readHeritage } from './types/lineage.js';

/** Decorators of classes that generated code imports. */
const IMPORTED: ReadonlySet<string> = new Set(['AutoBuilder', 'FwAction', 'FwEventHandler', 'FwSaga']);

/**
 * Reports marked classes inside functions, namespaces and expressions, unmarked ones that extend a class of this
 * package, and misplaced decorators. An unmarked class in a function is local on purpose.
 */
export function reportMisplaced(context: ReadContext, source: ts.SourceFile): void {
  const visit = (node: ts.Node, isLocal: boolean): void => {
    if (ts.isDecorator(node)) reportDecorator(context, node);
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
  const marker = names.find((name) => IMPORTED.has(name));
  if (marker !== undefined) return `is marked with @${marker}`;
  if (isLocal || (ts.isClassDeclaration(node) && isBase(node))) return undefined;
  const base = readHeritage(context, node)?.clause.expression;
  return base !== undefined && leadsToBase(context, base) ? `extends ${base.getText()}` : undefined;
}

/** Reports `@Key` on anything but a field of a model, and a marker of classes on a member. */
function reportDecorator(context: ReadContext, decorator: ts.Decorator): void {
  const name = decoratorName(context, decorator);
  if (name === undefined) return;
  const { parent } = decorator;
  if (name === 'Key') {
    if (ts.isPropertyDeclaration(parent) && isModelField(context, parent)) return;
    const hint = 'Move it to a field of a class that is marked with @AutoBuilder.';
    report(context, 'FWGEN059', decorator, '@Key is not on a field of a model', hint);
  } else if ((CLASS_MARKERS.has(name) || name === 'Allow') && !ts.isClassLike(parent)) {
    const owner = ts.findAncestor(parent, ts.isClassLike)?.name?.text;
    const hint = `Move it above \`class ${owner ?? 'Name'}\`.`;
    report(context, 'FWGEN059', decorator, `@${name} is not on a class`, hint);
  }
}

/** Whether a property is a field of a marked class, or of an abstract class that models may extend. */
function isModelField(context: ReadContext, field: ts.PropertyDeclaration): boolean {
  const owner = field.parent;
  if (!ts.isClassDeclaration(owner) || !instanceProperties(owner).includes(field)) return false;
  const isMarked = decoratorNamed(context, owner, 'AutoBuilder') !== undefined;
  return isMarked || (isBase(owner) && extendsClause(owner) !== undefined);
}
