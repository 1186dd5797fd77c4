import type { SagaSchema } from '../schema/project-schema.js';
import { type ClassForm, placeOf, readClassName, reportWrongBase } from './class-form.js';
import type { ts } from './compiler.js';
import { type ReadContext, report } from './read-context.js';
import { readStepActions } from './read-durable.js';
import { type Expected, NAME, NAMES, readFitting } from './read-literal.js';
import { locationOf } from './source-files.js';
import { constructorOf, instanceProperties } from './syntax.js';
import { leadsTo } from './types/lineage.js';
import { resolveClass } from './types/model-classes.js';
import { firstUnresolved, reportRefusal } from './unresolved.js';

/** Reads a class marked with `@FwSaga`. @returns undefined, after a report, if the class has no usable form */
export function readSaga(context: ReadContext, { node, lineage }: ClassForm): SagaSchema | undefined {
  const className = readClassName(context, node);
  const [argument] = lineage.arguments;
  if (!leadsTo(lineage, 'Saga') || argument === undefined) {
    const hint =
      'Write `extends Saga<X>`, where X is the model of its state, or extend a class of this project that extends it.';
    return reportWrongBase(context, { node, lineage }, 'FwSaga', hint);
  }
  if (className === undefined) return undefined;
  const { classes } = lineage;
  const declaredConstructor = classes.map(constructorOf).find((each) => each !== undefined);
  if (declaredConstructor !== undefined) {
    const hint =
      'Remove it: a saga depends on its state only. Collaborators belong to the actions of its steps.';
    report(context, 'FWGEN053', declaredConstructor, `${className} declares a constructor`, hint);
  }
  if (firstUnresolved(context, argument) !== undefined) {
    const subject = `The state of ${className}`;
    const hint = 'Use a class that extends Model<X, ShardedId<X>, State> and is marked with @AutoBuilder.';
    return reportRefusal(context, { code: 'FWGEN052', node: argument, subject, message: subject, hint });
  }
  const name = readProperty(context, classes, 'name', { ...NAME, problem: 'is not a name' });
  const aliases = readProperty(context, classes, 'aliases', {
    ...NAMES,
    problem: 'is not a list of names',
    hint: "Write a list of string literals: `['FormerSaga']`.",
  });
  const stepActions = readStepActions(context, classes);
  return {
    className,
    name: name ?? className,
    aliases: aliases ?? [],
    ...placeOf(node),
    state: resolveClass(context, argument),
    stateLocation: locationOf(argument),
    ...(stepActions.length === 0 ? {} : { stepActions }),
  };
}

/** Reads the literal that initializes a property, in the first class that does so. */
function readProperty<T>(
  context: ReadContext,
  classes: readonly ts.ClassDeclaration[],
  name: string,
  expected: Required<Expected<T>>,
): T | undefined {
  const property = classes
    .flatMap(instanceProperties)
    .find((each) => each.name.getText() === name && each.initializer !== undefined);
  return readFitting(context, property?.initializer, expected);
}
