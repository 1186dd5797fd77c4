import type { ColumnOption, Located, ModelSchema } from '../schema/project-schema.js';
import type { FieldSchema, TypeSchema } from '../schema/type-schema.js';
import { type ClassForm, extendsFramework, type Heritage, readClassName } from './class-form.js';
import { ts } from './compiler.js';
import { type Draft, type ReadContext, report } from './read-context.js';
import { decoratorArguments, readOptions } from './read-decorator.js';
import { readDoc } from './read-doc.js';
import { readKeys } from './read-keys.js';
import { literalProperties, readLiteral, reportNotLiteral } from './read-literal.js';
import { readField, readType } from './read-type.js';
import { fileOf, locationOf } from './source-files.js';
import { constructorOf, hasKeyword, instanceProperties, scopeOf } from './syntax.js';

/** Reads a class marked with `@AutoBuilder`; undefined if it is too broken to say anything about. */
export function readModel(
  context: ReadContext,
  form: ClassForm,
  decorator: ts.Decorator,
): ModelSchema | undefined {
  const { node } = form;
  const name = readClassName(context, node);
  const base = readBase(context, form);
  if (name === undefined || base === undefined) return undefined;
  const declaredConstructor = constructorOf(node);
  if (declaredConstructor !== undefined) {
    report(
      context,
      'FWGEN010',
      declaredConstructor,
      `${name} declares a constructor`,
      'Remove it: builders and repositories make instances. Put creation into a static method.',
    );
  }
  const fields = readModelFields(context, node);
  const { table, columns, deletedStates, checks } = readModelOptions(context, decorator);
  const model: Draft<ModelSchema> = {
    name,
    file: fileOf(node),
    location: locationOf(node.name ?? node),
    kind: base.kind,
    sharded: base.sharded,
    state: base.state,
    fields,
    columns,
    deletedStates,
  };
  const { description } = readDoc(node);
  if (description !== undefined) model.description = description;
  if (table !== undefined) model.table = table;
  const keys = readKeys(context, node);
  if (keys !== undefined) model.keys = keys;
  if (checks === true) model.checks = true;
  return model;
}

type Base = Pick<ModelSchema, 'kind' | 'sharded' | 'state'>;

/** What `extends Model<Self, IdType, State>` says. */
function readBase(context: ReadContext, { node, heritage }: ClassForm): Base | undefined {
  const name = node.name?.text ?? 'the class';
  if (!extendsFramework(heritage, 'Model', 'Entity')) {
    report(
      context,
      'FWGEN007',
      heritage?.clause ?? node.name ?? node,
      `${name} is marked with @AutoBuilder but ${found(heritage)}`,
      `Write \`class ${name} extends Model<${name}, ShardedId<${name}>, State>\` (or Entity), directly.`,
    );
    return undefined;
  }
  const [self, id, state] = heritage.clause.typeArguments ?? [];
  if (self?.getText() !== node.name?.text) {
    report(
      context,
      'FWGEN007',
      heritage.clause,
      `The first type argument of ${heritage.clause.expression.getText()} is ${self?.getText() ?? 'missing'}`,
      `Name the class itself: Model<${name}, ...>.`,
    );
    return undefined;
  }
  return {
    kind: heritage.resolved.name === 'Model' ? 'model' : 'entity',
    sharded: id !== undefined && readIdArgument(context, id, name),
    state: state === undefined ? { kind: 'string' } : readState(context, state),
  };
}

function found(heritage: Heritage | undefined): string {
  return heritage === undefined ? 'extends nothing' : `extends ${heritage.clause.getText()}`;
}

/** True for `ShardedId<Self>`; anything but an id of the class itself is reported. */
function readIdArgument(context: ReadContext, node: ts.TypeNode, modelName: string): boolean {
  const { type } = readType(context, node);
  if (type.kind === 'id' && type.model.name === modelName) return type.sharded;
  report(
    context,
    'FWGEN007',
    node,
    `The id type of ${modelName} is ${node.getText()}`,
    `Use Id<${modelName}> or ShardedId<${modelName}>.`,
  );
  return false;
}

function readState(context: ReadContext, node: ts.TypeNode): TypeSchema {
  const { type, nullable, optional } = readType(context, node);
  if (!nullable && !optional && (type.kind === 'enum' || type.kind === 'string')) return type;
  report(
    context,
    'FWGEN003',
    node,
    `The state type is ${node.getText()}`,
    "Use a union of string literals ('OPENED' | 'CLOSED') or a string enum.",
  );
  return { kind: 'string' };
}

function readModelFields(context: ReadContext, node: ts.ClassDeclaration): readonly FieldSchema[] {
  return instanceProperties(node)
    .filter((member) => hasFieldForm(context, member))
    .map((member) => readField(context, member))
    .filter((field) => field !== undefined);
}

function hasFieldForm(context: ReadContext, member: ts.PropertyDeclaration): boolean {
  const problem =
    scopeOf(member) !== 'public'
      ? `is ${scopeOf(member)}`
      : !hasKeyword(member, ts.SyntaxKind.ReadonlyKeyword)
        ? 'is not readonly'
        : member.initializer !== undefined
          ? 'has an initializer'
          : undefined;
  if (problem === undefined) return true;
  report(
    context,
    'FWGEN004',
    member,
    `The model field ${member.name.getText()} ${problem}`,
    `Write \`readonly ${member.name.getText()}!: Type;\`: models are immutable, and their builder sets every field.`,
  );
  return false;
}

type ModelOptions = Pick<ModelSchema, 'table' | 'columns' | 'deletedStates' | 'checks'>;

function readModelOptions(context: ReadContext, decorator: ts.Decorator): ModelOptions {
  const options = readOptions(context, decoratorArguments(decorator)[0], [
    'table',
    'columns',
    'deletedStates',
    'checks',
  ]);
  const table = options.get('table');
  const tableName = table === undefined ? undefined : readText(context, table);
  return {
    ...(tableName === undefined ? {} : { table: tableName }),
    columns: readColumnOptions(context, options.get('columns')),
    deletedStates: readTexts(context, options.get('deletedStates')),
    ...(readFlag(context, options.get('checks')) ? { checks: true } : {}),
  };
}

function readFlag(context: ReadContext, node: ts.Expression | undefined): boolean {
  const value = node === undefined ? undefined : readLiteral(context, node);
  if (node === undefined || value === undefined) return false;
  if (typeof value === 'boolean') return value;
  report(context, 'FWGEN002', node, `${node.getText()} is neither true nor false`, 'Write true or false.');
  return false;
}

function readText(
  context: ReadContext,
  node: ts.Node,
): { readonly name: string; readonly location: Located<string>['location'] } | undefined {
  const value = readLiteral(context, node);
  if (typeof value === 'string') return { name: value, location: locationOf(node) };
  if (value !== undefined) reportNotText(context, node);
  return undefined;
}

function readTexts(context: ReadContext, node: ts.Node | undefined): readonly Located<string>[] {
  if (node === undefined) return [];
  if (!ts.isArrayLiteralExpression(node)) {
    reportNotLiteral(context, node);
    return [];
  }
  return node.elements
    .map((element) => readText(context, element))
    .filter((text) => text !== undefined)
    .map(({ name, location }) => ({ value: name, location }));
}

function readColumnOptions(context: ReadContext, node: ts.Node | undefined): readonly ColumnOption[] {
  if (node === undefined) return [];
  if (!ts.isObjectLiteralExpression(node)) {
    reportNotLiteral(context, node);
    return [];
  }
  return [...literalProperties(context, node.properties)].map(([field, value]) => {
    const options = readOptions(context, value, ['name', 'type']);
    const name = options.get('name');
    const type = options.get('type');
    const nameText = name === undefined ? undefined : readText(context, name)?.name;
    const typeText = type === undefined ? undefined : readText(context, type)?.name;
    return {
      field,
      ...(nameText === undefined ? {} : { name: nameText }),
      ...(typeText === undefined ? {} : { type: typeText }),
      location: locationOf(value),
    };
  });
}

function reportNotText(context: ReadContext, node: ts.Node): void {
  report(context, 'FWGEN002', node, `${node.getText()} is not a string`, 'Write a string literal.');
}

/** Reports a class that extends `Model` or `Entity` and lacks the marker. */
export function reportUnmarkedModel(context: ReadContext, { node, heritage }: ClassForm): void {
  if (!extendsFramework(heritage, 'Model', 'Entity')) return;
  const name = node.name?.text ?? 'A class';
  const isBase = hasKeyword(node, ts.SyntaxKind.AbstractKeyword) || (node.typeParameters?.length ?? 0) > 0;
  report(
    context,
    'FWGEN011',
    node.name ?? node,
    `${name} extends ${heritage.clause.expression.getText()} without @AutoBuilder`,
    isBase
      ? 'Write its fields into each model: a marked class extends Model or Entity directly, and is concrete.'
      : 'Mark it with @AutoBuilder: without a builder there is no way to make or store it.',
  );
}
