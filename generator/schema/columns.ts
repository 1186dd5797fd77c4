import { memoize } from '../../runtime/collections/memoize.js';
import type { NumericType } from '../../runtime/domain/decimal.js';
import { numericOf } from './constraints.js';
import { snakeCase } from './naming.js';
import type { ColumnOption, ModelSchema } from './project-schema.js';
import { enumKind, type FieldSchema, type ModelReference, type TypeSchema } from './type-schema.js';

/** Fields that `Entity` declares. */
export const ENTITY_FIELDS: readonly string[] = ['id', 'state', 'version'];
/** Additional fields that `Model` declares. */
export const MODEL_FIELDS: readonly string[] = ['createdDate', 'updatedDate'];

/** A field of a model with its column. */
export interface ColumnSchema {
  readonly field: FieldSchema;
  /** Declared by `Entity` or `Model`. */
  readonly inherited: boolean;
  readonly column: string;
  readonly sqlType: string;
}

/** Returns all columns of a model: those of the base class without dates, its own in source order, then dates. */
export const columnsOf: (model: ModelSchema) => readonly ColumnSchema[] = memoize(makeColumns);

function makeColumns(model: ModelSchema): readonly ColumnSchema[] {
  const dates =
    model.kind === 'model' ? MODEL_FIELDS.map((name) => baseField(model, name, { kind: 'instant' })) : [];
  const fields = [
    baseField(model, 'id', { kind: 'id', model: referenceTo(model), sharded: model.sharded }),
    baseField(model, 'state', model.state),
    baseField(model, 'version', { kind: 'number' }),
    ...model.fields,
    ...dates,
  ];
  return fields.map((field) => column(model, field, optionFor(model, field.name)));
}

function referenceTo({ name, storedName, file }: ModelSchema): ModelReference {
  return { name, file, marked: true, ...(storedName === undefined ? {} : { storedName }) };
}

/** Whether the base class declares the field. */
export function isInherited(model: ModelSchema, name: string): boolean {
  return ENTITY_FIELDS.includes(name) || (model.kind === 'model' && MODEL_FIELDS.includes(name));
}

function column(model: ModelSchema, field: FieldSchema, option: ColumnOption | undefined): ColumnSchema {
  return {
    field,
    inherited: isInherited(model, field.name),
    column: option?.name ?? snakeCase(field.name),
    sqlType: option?.type ?? (field.name === 'version' ? 'bigint' : sqlTypeOf(field)),
  };
}

function optionFor(model: ModelSchema, field: string): ColumnOption | undefined {
  return model.columns.find((option) => option.field === field);
}

function baseField(model: ModelSchema, name: string, type: TypeSchema): FieldSchema {
  return { name, type, optional: false, nullable: false, tags: [], location: model.location };
}

/** Parses `numeric(19,4)`. @returns precision and scale; undefined for any other type */
export function parseNumeric(sqlType: string): NumericType | undefined {
  const match = /^(?:numeric|decimal)\s*\(\s*(\d{1,4})\s*(?:,\s*(\d{1,4})\s*)?\)$/i.exec(sqlType);
  if (match === null) return undefined;
  return { precision: Number(match[1]), scale: Number(match[2] ?? 0) };
}

const ENUM_COLUMNS = {
  string: 'text',
  number: 'double precision',
  boolean: 'boolean',
  mixed: 'jsonb',
} as const;

function sqlTypeOf(field: FieldSchema): string {
  const { type } = field;
  switch (type.kind) {
    case 'string':
      return 'text';
    case 'enum':
      return ENUM_COLUMNS[enumKind(type.values)];
    case 'number':
      return field.tags.some((tag) => tag.name === 'integer') ? 'bigint' : 'double precision';
    case 'bigint':
      return 'bigint';
    case 'boolean':
      return 'boolean';
    case 'instant':
      return 'timestamptz';
    case 'decimal': {
      const { precision, scale } = numericOf(field);
      return `numeric(${precision},${scale})`;
    }
    case 'uuid':
    case 'id':
      return 'uuid';
    case 'currency':
      return 'char(3)';
    case 'json':
    case 'list':
    case 'tuple':
    case 'record':
    case 'union':
    case 'recursive':
    case 'again':
    case 'object':
    case 'model':
    case 'void':
    case 'unsupported':
      return 'jsonb';
  }
}
