import type { SagaSchema } from '../schema/project-schema.js';
import { type ClassForm, readClassName } from './class-form.js';
import type { ts } from './compiler.js';
import { type ReadContext, report } from './read-context.js';
import { isName, NAME_FORM } from './read-decorator.js';
import { readStepActions } from './read-durable.js';
import { type Expected, readFitting } from './read-literal.js';
import { fileOf, locationOf } from './source-files.js';
import { constructorOf, instanceProperties, isBase } from './syntax.js';
import { leadsTo } from './types/lineage.js';
import { resolveClass } from './types/model-classes.js';
import { firstUnresolved, reportRefusal } from './unresolved.js';

/** Reads a class marked with `@FwSaga`. @returns undefined, after a report, if the class has no usable form */
export function readSaga(context: ReadContext, { node, lineage }: ClassForm): SagaSchema | undefined {
  const className = readClassName(context, node);
  const { heritage } = lineage;
  const [argument] = lineage.arguments;
  if (!leadsTo(lineage, 'Saga') || argument === undefined) {
    return reportRefusal(context, {
      code: 'FWGEN007',
      node: heritage?.clause ?? node.name ?? node,
      subject: `${className ?? 'The class'} is marked with @FwSaga but`,
      message: `${className ?? 'The class'} is marked with @FwSaga but extends ${heritage?.clause.getText() ?? 'nothing'}`,
      hint: 'Write `extends Saga<X>`, where X is the model of its state, or extend a class of this project that extends it.',
    });
  }
  if (className === undefined) return undefined;
  const { classes } = lineage;
  const declaredConstructor = classes.map(constructorOf).find((each) => each !== undefined);
  if (declaredConstructor !== undefined) {
    const hint =
      'Remove it: a saga depends on its state only. Collaborators belong to the actions of its steps.';
    report(context, 'FWGEN053', declaredConstructor, `${className} declares a constructor`, hint);
  }
  const unknown = firstUnresolved(context, argument);
  if (unknown !== undefined) {
    const message = `The state of ${className} ${unknown.cause}`;
    const hint = 'Use a class that extends Model<X, ShardedId<X>, State> and is marked with @AutoBuilder.';
    return report(context, 'FWGEN052', argument, message, unknown.remedy ?? hint);
  }
  const name = readProperty(context, classes, 'name', NAME);
  const stepActions = readStepActions(context, classes);
  return {
    className,
    name: name ?? className,
    aliases: readProperty(context, classes, 'aliases', NAMES) ?? [],
    file: fileOf(node),
    location: locationOf(node.name ?? node),
    state: resolveClass(context, argument),
    stateLocation: locationOf(argument),
    ...(stepActions.length === 0 ? {} : { stepActions }),
  };
}

/** Reports a class that extends `Saga` without the marker. It would be ignored. */
export function reportUnmarkedSaga(context: ReadContext, { node, lineage }: ClassForm): void {
  const { heritage } = lineage;
  if (heritage === undefined || !leadsTo(lineage, 'Saga') || isBase(node)) return;
  const message = `${node.name?.text ?? 'A class'} extends ${heritage.clause.expression.getText()} without @FwSaga`;
  const hint = 'Mark it with @FwSaga. Without it, no process runs the steps of its sagas.';
  report(context, 'FWGEN051', node.name ?? node, message, hint);
}

const NAME: Expected<string> = { isFit: isName, problem: 'is not a name', hint: `Write ${NAME_FORM}.` };

const NAMES: Expected<readonly string[]> = {
  isFit: (value) => Array.isArray(value) && value.every(isName),
  problem: 'is not a list of names',
  hint: "Write a list of string literals: `['FormerSaga']`.",
};

/** Reads the literal that initializes a property, in the first class that does so. */
function readProperty<T>(
  context: ReadContext,
  classes: readonly ts.ClassDeclaration[],
  name: string,
  expected: Expected<T>,
): T | undefined {
  const property = classes
    .flatMap(instanceProperties)
    .find((each) => each.name.getText() === name && each.initializer !== undefined);
  return readFitting(context, property?.initializer, expected)?.value;
}
