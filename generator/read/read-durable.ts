import type { ClassReference } from '../schema/project-schema.js';
import { ts } from './compiler.js';
import type { ReadContext } from './read-context.js';
import { resolveClassDeclaration, resolveName } from './resolver.js';
import { fileOf } from './source-files.js';

/** Returns actions that classes schedule: the second argument of each call of a method `schedule`, if it is a name. */
export function readScheduled(
  context: ReadContext,
  classes: readonly ts.ClassDeclaration[],
): readonly ClassReference[] {
  return unique(
    classes
      .filter((node) => node.getText().includes('.schedule('))
      .flatMap((node) =>
        callsIn(node).flatMap(({ expression, arguments: [, action] }) =>
          ts.isPropertyAccessExpression(expression) && expression.name.text === 'schedule'
            ? classOf(context, node.getSourceFile(), action)
            : [],
        ),
      ),
  );
}

/** Returns the actions of a saga's steps: the first argument of each call of `step` in the files of its classes. */
export function readStepActions(
  context: ReadContext,
  classes: readonly ts.ClassDeclaration[],
): readonly ClassReference[] {
  const sources = new Set(classes.map((node) => node.getSourceFile()));
  return unique([...sources].flatMap((source) => stepActionsIn(context, source)));
}

function stepActionsIn(context: ReadContext, source: ts.SourceFile): readonly ClassReference[] {
  return callsIn(source).flatMap(({ expression, arguments: [action] }) => {
    if (!ts.isIdentifier(expression)) return [];
    const resolved = resolveName(context, source, expression.text);
    return resolved.kind === 'framework' && resolved.name === 'step' ? classOf(context, source, action) : [];
  });
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

/** @param source the file of the node. Nodes in bodies have no parents, so it cannot be derived. */
function classOf(
  context: ReadContext,
  source: ts.SourceFile,
  node: ts.Expression | undefined,
): readonly ClassReference[] {
  if (node === undefined || !ts.isIdentifier(node)) return [];
  const declaration = resolveClassDeclaration(context, source, node.text);
  if (declaration?.name === undefined) return [];
  return [{ name: declaration.name.text, file: fileOf(declaration) }];
}

function unique(references: readonly ClassReference[]): readonly ClassReference[] {
  return [...new Map(references.map((each) => [`${each.file}#${each.name}`, each])).values()];
}
