import type { SagaSchema } from '../schema/project-schema.js';
import { type ClassForm, extendsFramework, readClassName } from './class-form.js';
import { ts } from './compiler.js';
import { type ReadContext, report } from './read-context.js';
import { readStepActions } from './read-durable.js';
import { fileOf, locationOf } from './source-files.js';
import { constructorOf, instanceProperties } from './syntax.js';
import { resolveClass } from './types/references.js';

/** Reads a class marked with `@FwSaga`; undefined if it is too broken to say anything about. */
export function readSaga(context: ReadContext, { node, heritage }: ClassForm): SagaSchema | undefined {
  const className = readClassName(context, node);
  const [state] = heritage?.clause.typeArguments ?? [];
  if (!extendsFramework(heritage, 'Saga') || state === undefined) {
    report(
      context,
      'FWGEN007',
      heritage?.clause ?? node.name ?? node,
      `${className ?? 'The class'} is marked with @FwSaga but extends ${heritage?.clause.getText() ?? 'nothing'}`,
      'Write `extends Saga<X>`, directly, where X is the model that holds its state.',
    );
    return undefined;
  }
  if (className === undefined) return undefined;
  const declaredConstructor = constructorOf(node);
  if (declaredConstructor !== undefined) {
    report(
      context,
      'FWGEN053',
      declaredConstructor,
      `${className} declares a constructor`,
      'Remove it: a saga depends on its state only. Collaborators belong to the actions of its steps.',
    );
  }
  const [name] = readTexts(node, 'name');
  const stepActions = readStepActions(context, node);
  return {
    className,
    name: name ?? className,
    aliases: readTexts(node, 'aliases'),
    file: fileOf(node),
    location: locationOf(node.name ?? node),
    state: resolveClass(context, state),
    stateLocation: locationOf(state),
    ...(stepActions.length === 0 ? {} : { stepActions }),
  };
}

/** Reports a class that extends `Saga` and would be overlooked. */
export function reportUnmarkedSaga(context: ReadContext, { node, heritage }: ClassForm): void {
  if (!extendsFramework(heritage, 'Saga')) return;
  report(
    context,
    'FWGEN051',
    node.name ?? node,
    `${node.name?.text ?? 'A class'} extends Saga without @FwSaga`,
    'Mark it with @FwSaga. Without it, no process runs the steps of its sagas.',
  );
}

/** The text, or list of texts, that a property is set to; the compiler guarantees the type. */
function readTexts(node: ts.ClassDeclaration, name: string): readonly string[] {
  const value = instanceProperties(node).find((each) => each.name.getText() === name)?.initializer;
  if (value === undefined) return [];
  const parts = ts.isArrayLiteralExpression(value) ? [...value.elements] : [value];
  return parts.flatMap((each) => (ts.isStringLiteralLike(each) ? [each.text] : []));
}
