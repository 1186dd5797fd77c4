import { defined } from '../schema/defined.js';
import type { ColumnOption, Located, ModelSchema } from '../schema/project-schema.js';
import { enumKind, type FieldSchema, type TypeSchema } from '../schema/type-schema.js';
import { type ClassForm, placeOf, readClassName, reportWrongBase } from './class-form.js';
import { ts } from './compiler.js';
import { fieldForm } from './field-form.js';
import { type ReadContext, report } from './read-context.js';
import { decoratorArguments, located, readOptions } from './read-decorator.js';
import { readDoc } from './read-doc.js';
import { readKeys } from './read-keys.js';
import { FLAG, NAME, readElements, readFitting, readProperties, TEXT } from './read-literal.js';
import { locationOf } from './source-files.js';
import { constructorOf, extendsClause, hasKeyword, instanceProperties, scopeOf } from './syntax.js';
import { type Lineage, leadsTo } from './types/lineage.js';
import { readClassField, reportMerged } from './types/objects.js';
import { readArgument, startReading } from './types/read-type.js';
import { mergeFields, NEVER } from './types/type-results.js';
import { reportRefusal } from './unresolved.js';

/** Reads a class marked with `@AutoBuilder`. @returns undefined, after a report, if the class has no usable form */
export function readModel(
  context: ReadContext,
  { node, lineage }: ClassForm,
  decorator: ts.Decorator,
): ModelSchema | undefined {
  const name = readClassName(context, node);
  const base = readBase(context, node, lineage);
  if (name === undefined || base === undefined) return undefined;
  const { classes } = lineage;
  const declaredConstructor = classes.map(constructorOf).find((each) => each !== undefined);
  if (declaredConstructor !== undefined) {
    const hint =
      'Remove it: builders and repositories create instances. Write a static method that uses the builder instead.';
    report(context, 'FWGEN010', declaredConstructor, `${name} declares a constructor`, hint);
  }
  const fields = mergeFields(classes.toReversed().flatMap((each) => readModelFields(context, node, each)));
  return defined({
    name,
    description: readDoc(node).description,
    ...placeOf(node),
    kind: base.kind,
    sharded: base.sharded,
    state: base.state,
    fields,
    ...readModelOptions(context, decorator),
    keys: readKeys(context, classes),
  });
}

type Base = Pick<ModelSchema, 'kind' | 'sharded' | 'state'>;

/** Reads the type arguments of `extends Model<Self, IdType, State>`, also through base classes. */
function readBase(context: ReadContext, node: ts.ClassDeclaration, lineage: Lineage): Base | undefined {
  const name = node.name?.text ?? 'the class';
  const heritage = lineage.root;
  const place = extendsClause(node) ?? node.name ?? node;
  if (heritage === undefined || !leadsTo(lineage, 'Model', 'Entity')) {
    const hint = `Write \`class ${name} extends Model<${name}, ShardedId<${name}>, State>\` (or Entity), or extend a class of this project that extends it.`;
    return reportWrongBase(context, { node, lineage }, 'AutoBuilder', hint);
  }
  const [self, id, state] = lineage.arguments;
  const selfText = self?.getText();
  if (selfText === undefined || selfText !== node.name?.text) {
    const message = `The first type argument of ${heritage.clause.expression.getText()} is ${selfText ?? 'missing'}`;
    return report(context, 'FWGEN007', place, message, `Write the class itself: Model<${name}, ...>.`);
  }
  return {
    kind: leadsTo(lineage, 'Model') ? 'model' : 'entity',
    sharded: id !== undefined && readIdArgument(context, lineage, name),
    state: state === undefined ? { kind: 'string' } : readState(context, lineage),
  };
}

/** Whether the second argument is `ShardedId<Self>`. Reports anything but an id of the class itself. */
function readIdArgument(context: ReadContext, lineage: Lineage, modelName: string): boolean {
  const type = readArgument(context, lineage, 1)?.type;
  if (type?.kind === 'id' && type.model.name === modelName) return type.sharded;
  const node = lineage.arguments[1] ?? lineage.classes[0];
  const hint = `Use Id<${modelName}> or ShardedId<${modelName}>.`;
  report(context, 'FWGEN007', node, `The id type of ${modelName} is ${node.getText()}`, hint);
  return false;
}

function readState(context: ReadContext, lineage: Lineage): TypeSchema {
  const node = lineage.arguments[2] ?? lineage.classes[0];
  const { type, nullable, optional } = readArgument(context, lineage, 2) ?? NEVER;
  const isText =
    type.kind === 'string' ||
    (type.kind === 'enum' && enumKind(type.values) === 'string' && type.values.length > 0);
  if (!nullable && !optional && isText) return type;
  reportRefusal(context, {
    code: 'FWGEN003',
    node,
    subject: `The state type ${node.getText()}`,
    message: `The state type is ${node.getText()}`,
    hint: "Use a union of string literals, `'OPENED' | 'CLOSED'`, or a string enum.",
  });
  return { kind: 'string' };
}

function readModelFields(
  context: ReadContext,
  leaf: ts.ClassDeclaration,
  node: ts.ClassDeclaration,
): readonly FieldSchema[] {
  reportMerged(context, node);
  return instanceProperties(node)
    .filter((member) => hasFieldForm(context, member))
    .map((member) => readClassField(startReading(context), member, leaf))
    .filter((field) => field !== undefined);
}

function hasFieldForm(context: ReadContext, member: ts.PropertyDeclaration): boolean {
  const scope = scopeOf(member);
  const problem = !hasKeyword(member, ts.SyntaxKind.ReadonlyKeyword)
    ? 'is not readonly'
    : member.initializer !== undefined
      ? 'has an initializer'
      : undefined;
  const name = member.name.getText();
  if (scope !== 'public') {
    const hint = `Every field of a model is a column, which responses may show: only if that is meant, write \`${fieldForm(member)}\`. Compute any other value in a method.`;
    report(context, 'FWGEN004', member, `The model field ${name} is ${scope}`, hint);
  } else if (problem !== undefined) {
    const hint = `Write \`${fieldForm(member)}\`: models are immutable, and their builder sets every field.`;
    report(context, 'FWGEN004', member, `The model field ${name} ${problem}`, hint);
  }
  return scope === 'public' && problem === undefined;
}

const OPTIONS = {
  name: NAME,
  table: TEXT,
  columns: undefined,
  deletedStates: undefined,
  chaining: FLAG,
  folding: FLAG,
};

type ModelOptions = Pick<
  ModelSchema,
  'storedName' | 'table' | 'columns' | 'deletedStates' | 'chaining' | 'folding'
>;

function readModelOptions(context: ReadContext, decorator: ts.Decorator): ModelOptions {
  const options = readOptions(context, decoratorArguments(decorator)[0], OPTIONS);
  const [columns, states] = [options.nodes.get('columns'), options.nodes.get('deletedStates')];
  const { name, chaining, folding } = options.values;
  return defined({
    storedName: name,
    table: located(options, 'table'),
    columns: columns === undefined ? [] : readColumnOptions(context, columns),
    deletedStates: states === undefined ? [] : readTexts(context, states),
    ...{ chaining, folding },
  });
}

function readTexts(context: ReadContext, list: ts.Expression): readonly Located<string>[] {
  return readElements(context, list).flatMap((element) => {
    const value = readFitting(context, element, TEXT);
    return value === undefined ? [] : { value, location: locationOf(element) };
  });
}

function readColumnOptions(context: ReadContext, object: ts.Expression): readonly ColumnOption[] {
  return [...readProperties(context, object)].map(([field, node]) => {
    const { name, type } = readOptions(context, node, { name: TEXT, type: TEXT }).values;
    return defined({ field, name, type, location: locationOf(node) });
  });
}
