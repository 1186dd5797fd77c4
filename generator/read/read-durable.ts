import type { ClassReference } from '../schema/project-schema.js';
import { ts } from './compiler.js';
import type { ReadContext } from './read-context.js';
import { classOf, isOfFramework, resolveName } from './resolver.js';
import { fileOf } from './source-files.js';

/** Returns actions that classes schedule: the second argument of each call of a method `schedule`, if it is a name. */
export function readScheduled(
  context: ReadContext,
  classes: readonly ts.ClassDeclaration[],
): readonly ClassReference[] {
  const scheduling = classes.filter((node) => node.getText().includes('.schedule('));
  return classesPassed(context, scheduling, ({ expression, arguments: [, action] }) =>
    ts.isPropertyAccessExpression(expression) && expression.name.text === 'schedule' ? action : undefined,
  );
}

/** Returns the actions of a saga's steps: the first argument of each call of `step` in the files of its classes. */
export function readStepActions(
  context: ReadContext,
  classes: readonly ts.ClassDeclaration[],
): readonly ClassReference[] {
  const sources = new Set(classes.map((node) => node.getSourceFile()));
  return classesPassed(context, [...sources], ({ expression, arguments: [action] }) =>
    ts.isIdentifier(expression) && isOfFramework(context, expression, 'step') ? action : undefined,
  );
}

/** The classes that arguments of calls name, each once. */
function classesPassed(
  context: ReadContext,
  nodes: readonly ts.Node[],
  argumentOf: (call: ts.CallExpression) => ts.Expression | undefined,
): readonly ClassReference[] {
  const found = new Map<ts.ClassDeclaration, ClassReference>();
  const visit = (node: ts.Node): void => {
    const argument = ts.isCallExpression(node) ? argumentOf(node) : undefined;
    const named = argument && ts.isIdentifier(argument) ? classOf(resolveName(context, argument)) : undefined;
    if (named?.name !== undefined) found.set(named, { name: named.name.text, file: fileOf(named) });
    ts.forEachChild(node, visit);
  };
  nodes.forEach(visit);
  return [...found.values()];
}
