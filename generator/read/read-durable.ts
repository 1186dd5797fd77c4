import type { ClassReference } from '../schema/project-schema.js';
import { ts } from './compiler.js';
import type { ReadContext } from './read-context.js';
import { isOfFramework, resolveClassDeclaration } from './resolver.js';
import { fileOf } from './source-files.js';

/** Returns actions that classes schedule: the second argument of each call of a method `schedule`, if it is a name. */
export function readScheduled(
  context: ReadContext,
  classes: readonly ts.ClassDeclaration[],
): readonly ClassReference[] {
  const scheduling = classes.filter((node) => node.getText().includes('.schedule('));
  const calls = scheduling.flatMap(callsIn).filter(({ expression }) => {
    return ts.isPropertyAccessExpression(expression) && expression.name.text === 'schedule';
  });
  return classesNamed(
    context,
    calls.map((call) => call.arguments[1]),
  );
}

/** Returns the actions of a saga's steps: the first argument of each call of `step` in the files of its classes. */
export function readStepActions(
  context: ReadContext,
  classes: readonly ts.ClassDeclaration[],
): readonly ClassReference[] {
  const sources = [...new Set(classes.map((node) => node.getSourceFile()))];
  const calls = sources
    .flatMap(callsIn)
    .filter(({ expression }) => ts.isIdentifier(expression) && isOfFramework(context, expression, 'step'));
  return classesNamed(
    context,
    calls.map((call) => call.arguments[0]),
  );
}

function callsIn(node: ts.Node): readonly ts.CallExpression[] {
  const calls: ts.CallExpression[] = [];
  const visit = (each: ts.Node): void => {
    if (ts.isCallExpression(each)) calls.push(each);
    ts.forEachChild(each, visit);
  };
  visit(node);
  return calls;
}

/** The classes that expressions name, each once. */
function classesNamed(
  context: ReadContext,
  nodes: readonly (ts.Expression | undefined)[],
): readonly ClassReference[] {
  const found = new Map<ts.ClassDeclaration, ClassReference>();
  for (const node of nodes) {
    const named = node !== undefined && ts.isIdentifier(node) ? node.text : undefined;
    const declaration = named && node && resolveClassDeclaration(context, node, named);
    if (declaration && declaration.name !== undefined)
      found.set(declaration, { name: declaration.name.text, file: fileOf(declaration) });
  }
  return [...found.values()];
}
