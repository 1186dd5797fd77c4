import { type ColumnSchema, columnsOf } from '../../schema/columns.js';
import { keyIndexes } from '../../schema/key-indexes.js';
import { type ModelNames, modelNames, setterName } from '../../schema/model-names.js';
import { projectIndex } from '../../schema/project-index.js';
import { type ModelSchema, storedNameOf } from '../../schema/project-schema.js';
import type { Emission } from '../emission.js';
import { fieldCall } from '../field-code.js';
import { FileScope, type ImportView } from '../file-scope.js';
import { literal } from '../print/literal.js';
import { commentText, type DocView, docView, isBindingName, memberName, quote } from '../print/strings.js';
import { fieldTypeText, rowTypeText } from '../type-text.js';
import { type HeaderView, headerView } from './header-view.js';

/** View of `model.hbs`: builder, table types, descriptor and default repository of one model. */
export interface ModelView extends HeaderView {
  readonly imports: readonly ImportView[];
  /** Name of the class, and its local name, which differs if the name is taken. */
  readonly modelName: string;
  readonly model: string;
  /** Local name of the runtime's `ModelBuilder`. */
  readonly builderBase: string;
  /** Table name, safe in a comment. */
  readonly tableText: string;
  /** Name of the row type. */
  readonly tableType: string;
  readonly columns: readonly ModelColumnView[];
  /** Name of the type of all tables, and its one member. */
  readonly tables: string;
  readonly tableKey: string;
  /** Name of the descriptor. */
  readonly descriptorName: string;
  /** Stable name, kind and table name, quoted. */
  readonly storedName: string;
  readonly kind: string;
  readonly table: string;
  /** `true` or `false`. */
  readonly sharded: string;
  /** Literal list of deleted states, or ''. */
  readonly deletedStates: string;
  /** `chaining` and `folding` of `@AutoBuilder`, with `true` or `false`. */
  readonly switches: readonly { readonly name: string; readonly value: string }[];
  /** Literals of natural keys. */
  readonly keys: readonly string[];
  /** Name of the union of required fields, and its members, quoted. */
  readonly fieldType: string;
  readonly requiredFields: readonly string[];
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

/** One column of a model's table. */
export interface ModelColumnView {
  /** Member of the row type, in quotes if it is not an identifier, and its type. */
  readonly member: string;
  readonly rowType: string;
  /** Names of the field and the column, and the column's SQL type, quoted. */
  readonly field: string;
  readonly column: string;
  readonly sqlType: string;
  /** Field type as a call of a member of `t`. */
  readonly type: string;
}

/** One setter of a builder. */
export interface SetterView extends DocView {
  /** In quotes if it is not an identifier. */
  readonly name: string;
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
  const scope = new FileScope(emission, file, [...GLOBALS, ...declaredNames(names)]);
  const local = scope.value({ kind: 'file', file: model.file, name: model.name });
  const columns = columnsOf(model);
  const required = columns.filter(isRequired);
  const hasRepository = !projectIndex(emission.schema).repositoriesByModel.has(model.name);
  for (const name of ['column', ...(hasRepository ? ['Repository'] : [])]) scope.runtimeValue(name);
  scope.runtimeType('ModelDescriptor');
  const deletedStates = model.deletedStates.map(({ value }) => value);
  const view = {
    ...headerView(model.file),
    modelName: model.name,
    model: local,
    builderBase: scope.runtimeValue('ModelBuilder'),
    tableText: commentText(names.table),
    tableType: names.tableType,
    columns: columns.map((column) => columnView(scope, column)),
    tables: names.tables,
    tableKey: memberName(names.table),
    descriptorName: names.descriptor,
    storedName: quote(storedNameOf(model)),
    kind: quote(model.kind),
    table: quote(names.table),
    sharded: String(model.sharded),
    deletedStates: deletedStates.length === 0 ? '' : literal(deletedStates),
    switches: (['chaining', 'folding'] as const).flatMap((name) =>
      model[name] === undefined ? [] : { name, value: String(model[name]) },
    ),
    keys:
      model.keys === undefined
        ? []
        : keyIndexes(model).map(({ name, fields }) => literal({ index: name, fields })),
    fieldType: names.field,
    requiredFields: required.map(({ field }) => quote(field.name)),
    builder: names.builder,
    starter: memberName(names.variable),
    source: isBindingName(names.variable) ? names.variable : 'model',
    baseText: model.kind === 'model' ? 'id, state, version and dates' : 'id, state and version',
    baseFields: required
      .filter(({ inherited }) => inherited)
      .map(({ field }) => quote(field.name))
      .join(' | '),
    setters: columns.map((column) => setterView(scope, column, names, local)),
    hasRepository,
    repository: names.repository,
  };
  // Everything above has added its scope.
  return { ...view, imports: scope.statements() };
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

function columnView(scope: FileScope, { field, column, sqlType }: ColumnSchema): ModelColumnView {
  const at = (text: string): string => scope.at(field.location, text);
  const descriptor = scope.emission.types.field(field, sqlType);
  return {
    member: at(memberName(column)),
    rowType: rowTypeText(field, sqlType, scope),
    field: at(quote(field.name)),
    column: quote(column),
    sqlType: quote(sqlType),
    type: fieldCall(descriptor, { scope, use: 'column' }),
  };
}

function setterView(scope: FileScope, column: ColumnSchema, names: ModelNames, model: string): SetterView {
  const { field } = column;
  const isVersion = column.inherited && field.name === 'version';
  const parameter = isBindingName(field.name) ? field.name : 'value';
  const name = quote(field.name);
  const at = (text: string): string => scope.at(field.location, text);
  if (isVersion) scope.runtimeValue('INITIAL_VERSION');
  return {
    name: at(isVersion ? 'withInitialVersion' : memberName(setterName(field.name))),
    docLines: docView(setterDoc(column)).docLines.map(at),
    parameter: isVersion ? '' : `${parameter}: ${fieldTypeText(field, model, scope)}`,
    returns: `${names.builder}<${isRequired(column) ? `Given | ${name}` : 'Given'}>`,
    field: at(name),
    value: isVersion ? 'INITIAL_VERSION' : parameter,
  };
}

function setterDoc({ field, inherited }: ColumnSchema): string | undefined {
  if (!inherited) return field.description;
  if (field.name === 'version') return 'Sets the version of a new instance: 1.';
  return field.name === 'updatedDate' ? 'Default: the created date.' : undefined;
}
