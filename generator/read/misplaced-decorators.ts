import { ts } from './compiler.js';
import { type ReadContext, report } from './read-context.js';
import { decoratorName, decoratorNamed } from './read-decorator.js';
import { extendsClause, hasKeyword, instanceProperties } from './syntax.js';

/** Decorators that mark a class. */
export const CLASS_MARKERS: ReadonlySet<string> = new Set(
  'AutoBuilder FwAction FwEvent FwEventHandler FwSaga FwSchedule HttpRoute'.split(' '),
);

/** Reports `@Key` on anything but a field of a model, and a marker of classes on a member. */
export function reportMisplaced(context: ReadContext, decorator: ts.Decorator): void {
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

function isModelField(context: ReadContext, field: ts.PropertyDeclaration): boolean {
  const owner = field.parent;
  return ts.isClassDeclaration(owner) && isModel(context, owner) && instanceProperties(owner).includes(field);
}

/** Whether a class is marked, or an abstract class that models may extend. */
function isModel(context: ReadContext, node: ts.ClassDeclaration): boolean {
  const isMarked = decoratorNamed(context, node, 'AutoBuilder') !== undefined;
  return isMarked || (hasKeyword(node, ts.SyntaxKind.AbstractKeyword) && extendsClause(node) !== undefined);
}
