import { columnsOf } from '../../schema/columns.js';
import { modelNames } from '../../schema/model-names.js';
import { kebabCase } from '../../schema/naming.js';
import type { ActionSchema, ModelSchema, ProjectSchema } from '../../schema/project-schema.js';
import type { FieldSchema } from '../../schema/type-schema.js';
import { type HeaderView, headerView } from './header-view.js';

/** View of a template in `per-model/`: one model as plain data. */
export interface ExtraModelView extends HeaderView {
  /** Name of the class. */
  readonly name: string;
  /** Name of the emitted file of the model, without extension. */
  readonly fileName: string;
  readonly description: string;
  /** Project-relative path of the model's source. */
  readonly sourceFile: string;
  readonly table: string;
  readonly isSharded: boolean;
  /** Empty if the state is a plain string. */
  readonly states: readonly string[];
  readonly fields: readonly ExtraFieldView[];
  readonly events: readonly ExtraEventView[];
}

/** A field of a model, an event, or the params of an action. */
export interface ExtraFieldView {
  readonly name: string;
  /** `string`, `decimal`, `id` and so on: a kind of `FieldType`. */
  readonly kind: string;
  readonly isOptional: boolean;
  readonly isNullable: boolean;
  readonly description: string;
  /** Column and its type; '' for a value without a column of its own. */
  readonly column: string;
  readonly sqlType: string;
  /** False for the last field. Use it to print separators. */
  readonly hasNext: boolean;
}

/** An event of a model. */
export interface ExtraEventView {
  readonly name: string;
  readonly description: string;
  readonly fields: readonly ExtraFieldView[];
}

/** View of a template in `per-action/`. */
export interface ExtraActionView extends HeaderView {
  /** Name of the class, and stable name. */
  readonly className: string;
  readonly name: string;
  readonly fileName: string;
  readonly description: string;
  readonly sourceFile: string;
  readonly params: readonly ExtraFieldView[];
  readonly hasRoute: boolean;
  /** '' without a route. */
  readonly method: string;
  readonly path: string;
}

/** View of a template in `per-project/`. */
export interface ExtraProjectView extends HeaderView {
  readonly title: string;
  readonly version: string;
  readonly models: readonly ExtraModelView[];
  readonly actions: readonly ExtraActionView[];
}

/** Builds the view of a template in `per-model/`. */
export function extraModelView(schema: ProjectSchema, model: ModelSchema): ExtraModelView {
  const { table, file } = modelNames(model);
  const columns = columnsOf(model);
  return {
    ...headerView(model.file),
    name: model.name,
    fileName: file,
    description: model.description ?? '',
    sourceFile: model.file,
    table,
    isSharded: model.sharded,
    states: model.state.kind === 'enum' ? model.state.values.map(String) : [],
    fields: columns.map(({ field, column, sqlType }, index) => ({
      ...fieldView(field, index < columns.length - 1),
      column,
      sqlType,
    })),
    events: schema.events
      .filter((event) => event.model.name === model.name && event.model.file === model.file)
      .map(({ name, description = '', fields }) => ({ name, description, fields: fieldViews(fields) })),
  };
}

/** Builds the view of a template in `per-action/`. */
export function extraActionView(action: ActionSchema): ExtraActionView {
  return {
    ...headerView(action.file),
    className: action.className,
    name: action.name,
    fileName: kebabCase(action.className),
    description: action.description ?? '',
    sourceFile: action.file,
    params: fieldViews(action.params),
    hasRoute: action.route !== undefined,
    method: action.route?.method ?? '',
    path: action.route?.path ?? '',
  };
}

/** Builds the view of a template in `per-project/`. */
export function extraProjectView(
  schema: ProjectSchema,
  info: { readonly title: string; readonly version: string },
  sourceFolder: string,
): ExtraProjectView {
  return {
    ...headerView(sourceFolder),
    ...info,
    models: schema.models.map((model) => extraModelView(schema, model)),
    actions: schema.actions.map(extraActionView),
  };
}

function fieldViews(fields: readonly FieldSchema[]): readonly ExtraFieldView[] {
  return fields.map((field, index) => fieldView(field, index < fields.length - 1));
}

function fieldView(field: FieldSchema, hasNext: boolean): ExtraFieldView {
  return {
    name: field.name,
    kind: field.type.kind,
    isOptional: field.optional,
    isNullable: field.nullable,
    description: field.description ?? '',
    column: '',
    sqlType: '',
    hasNext,
  };
}
