import { type ColumnSchema, columnsOf } from '../../schema/columns.js';
import { keyIndexes } from '../../schema/key-indexes.js';
import { type ModelNames, modelNames, setterName } from '../../schema/model-names.js';
import { projectIndex } from '../../schema/project-index.js';
import { type ModelSchema, storedNameOf } from '../../schema/project-schema.js';
import { ruleChecks } from '../check-constraints.js';
import type { Emission } from '../emission.js';
import { fieldCode } from '../field-code.js';
import { Call, type Code, Expression, LINE_WIDTH } from '../print/code.js';
import { Imports } from '../print/imports.js';
import { commentText, docComment, isBindingName, memberName, quote } from '../print/strings.js';
import { fieldTypeText, rowTypeText } from '../type-text.js';
import { type HeaderView, headerView } from './header-view.js';

/** View of `model.hbs`: builder, table types, descriptor and default repository of one model. */
export interface ModelView extends HeaderView {
  /** Import statements, complete. */
  readonly imports: readonly string[];
  /** Name of the class, and its local name, which differs if the name is taken. */
  readonly modelName: string;
  readonly model: string;
  /** Local names of the runtime's exports. */
  readonly descriptorType: string;
  readonly builderBase: string;
  readonly repositoryBase: string;
  /** Table name, safe in a comment. */
  readonly tableText: string;
  /** Name of the row type. */
  readonly tableType: string;
  readonly columns: readonly MemberView[];
  /** Name of the type of all tables, and its one member. */
  readonly tables: string;
  readonly tableKey: string;
  /** Name and printed literal of the descriptor. */
  readonly descriptorName: string;
  readonly descriptor: string;
  /** Name of the union of required fields, and the union after a space. */
  readonly fieldType: string;
  readonly requiredFields: string;
  readonly builder: string;
  /** Static method that starts a builder. */
  readonly starter: string;
  /** Parameter of `copyOf`. */
  readonly source: string;
  /** Fields that `copyBase` copies: in words, and as a union. */
  readonly baseText: string;
  readonly baseFields: string;
  readonly setters: readonly SetterView[];
  /** False if the user wrote a repository class. */
  readonly hasRepository: boolean;
  readonly repository: string;
}

/** A member of an interface. */
export interface MemberView {
  /** In quotes if it is not an identifier. */
  readonly name: string;
  readonly type: string;
}

/** One setter of a builder. */
export interface SetterView {
  /** In quotes if it is not an identifier. */
  readonly name: string;
  readonly hasDoc: boolean;
  /** Documentation comment, or ''. */
  readonly doc: string;
  /** Parameter with its type, or '' for none. */
  readonly parameter: string;
  /** Type of the builder with the field set. */
  readonly returns: string;
  /** Field name, quoted. */
  readonly field: string;
  /** Printed value of the field. */
  readonly value: string;
}

/** Project-relative path of a model's emitted file. */
export function modelFile(outputFolder: string, model: ModelSchema): string {
  return `${outputFolder}/${modelNames(model).file}.ts`;
}

/** Builds the view of `model.hbs`. */
export function modelView(emission: Emission, model: ModelSchema, file: string): ModelView {
  const names = modelNames(model);
  const imports = new Imports(file, [...GLOBALS, ...declaredNames(names)]);
  const local = imports.value({ kind: 'file', file: model.file, name: model.name });
  const columns = columnsOf(model);
  const required = columns.filter(isRequired);
  const hasRepository = !projectIndex(emission.schema).repositoriesByModel.has(model.name);
  const { headerPrefix, header } = headerView(model.file);
  const descriptorType = imports.runtimeType('ModelDescriptor');
  const builderBase = imports.runtimeValue('ModelBuilder');
  const descriptorNames = { local, columnCall: imports.runtimeValue('column'), t: imports.runtimeValue('t') };
  const repositoryBase = hasRepository ? imports.runtimeValue('Repository') : '';
  const members = columns.map(({ column, field, sqlType }) => ({
    name: emission.at(field.location, memberName(column)),
    type: rowTypeText(field, sqlType, imports),
  }));
  const setters = columns.map((column) => setterView(emission, column, names, local, imports));
  return {
    headerPrefix,
    header,
    // Everything above has added its imports.
    imports: imports.statements(),
    modelName: model.name,
    model: local,
    descriptorType,
    builderBase,
    repositoryBase,
    tableText: commentText(names.table),
    tableType: names.tableType,
    columns: members,
    tables: names.tables,
    tableKey: memberName(names.table),
    descriptorName: names.descriptor,
    descriptor: printDescriptor(emission, model, descriptorNames),
    fieldType: names.field,
    requiredFields: printUnion(
      required.map(({ field }) => quote(field.name)),
      names.field,
    ),
    builder: names.builder,
    starter: memberName(names.variable),
    source: isBindingName(names.variable) ? names.variable : 'model',
    baseText: model.kind === 'model' ? 'id, state, version and dates' : 'id, state and version',
    baseFields: required
      .filter(({ inherited }) => inherited)
      .map(({ field }) => quote(field.name))
      .join(' | '),
    setters,
    hasRepository,
    repository: names.repository,
  };
}

/** Global names that the template uses. */
const GLOBALS: readonly string[] = ['Date', 'NonNullable', 'Given'];

function declaredNames(names: ModelNames): readonly string[] {
  return [names.tableType, names.tables, names.descriptor, names.field, names.builder, names.repository];
}

/** The builder sets `updatedDate` to the created date by default. */
function isRequired({ field, inherited }: ColumnSchema): boolean {
  return !field.optional && !(inherited && field.name === 'updatedDate');
}

interface DescriptorNames {
  /** Local names of the model's class and of the runtime's `column` and `t`. */
  readonly local: string;
  readonly columnCall: string;
  readonly t: string;
}

function printDescriptor(
  emission: Emission,
  model: ModelSchema,
  { local, columnCall, t }: DescriptorNames,
): string {
  const deletedStates = model.deletedStates.map(({ value }) => value);
  const checks = ruleChecks(model).map(({ name }) => name);
  const descriptor: Code = {
    name: storedNameOf(model),
    kind: model.kind,
    modelClass: new Expression(`() => ${local}`),
    table: modelNames(model).table,
    sharded: model.sharded,
    columns: columnsOf(model).map(({ field, column, sqlType }) => {
      const type = fieldCode(emission.types.field(field, sqlType), {
        t,
        use: 'column',
        types: emission.types,
      });
      return new Call(columnCall, [field.name, { column, sqlType }, type]);
    }),
    deletedStates: deletedStates.length === 0 ? undefined : deletedStates,
    keys:
      model.keys === undefined
        ? undefined
        : keyIndexes(model).map(({ name, fields }) => ({ index: name, fields })),
    checks: checks.length === 0 ? undefined : checks,
  };
  return emission.print(descriptor, 0, LINE_WIDTH);
}

function printUnion(members: readonly string[], name: string): string {
  const line = members.join(' | ');
  return `export type ${name} = ${line};`.length <= LINE_WIDTH
    ? ` ${line}`
    : `\n  | ${members.join('\n  | ')}`;
}

function setterView(
  emission: Emission,
  column: ColumnSchema,
  names: ModelNames,
  model: string,
  imports: Imports,
): SetterView {
  const { field } = column;
  const isVersion = column.inherited && field.name === 'version';
  const parameter = isBindingName(field.name) ? field.name : 'value';
  const doc = setterDoc(column);
  const literal = quote(field.name);
  return {
    name: emission.at(field.location, isVersion ? 'withInitialVersion' : memberName(setterName(field.name))),
    hasDoc: doc !== undefined,
    doc: doc === undefined ? '' : emission.at(field.location, docComment(doc, 2)),
    parameter: isVersion ? '' : `${parameter}: ${fieldTypeText(field, model, imports)}`,
    returns: `${names.builder}<${isRequired(column) ? `Given | ${literal}` : 'Given'}>`,
    field: emission.at(field.location, literal),
    value: isVersion ? imports.runtimeValue('INITIAL_VERSION') : parameter,
  };
}

function setterDoc({ field, inherited }: ColumnSchema): string | undefined {
  if (!inherited) return field.description;
  if (field.name === 'version') return 'Sets the version of a new instance: 1.';
  return field.name === 'updatedDate' ? 'Default: the created date.' : undefined;
}
