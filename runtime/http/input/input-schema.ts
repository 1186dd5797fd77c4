import { isLosslessNumber } from 'lossless-json';
import type { FieldDescriptor, FieldType } from '../../domain/descriptor.js';
import { compileRules, type RuleCheck } from '../../domain/value-rules.js';
import { compileConverter, type ValueSource } from './convert.js';
import type { Converter } from './converter.js';
import { Refusal } from './refusal.js';

/** The context of one value for our keyword `fw`. */
export interface CheckedValue {
  readonly label: string;
  readonly nullable: boolean;
  readonly convert: Converter;
}

/** A schema for Ajv. Leaves contain converters, so it is not JSON. */
export type PreparedSchema = { readonly [keyword: string]: unknown };

/** A value inside of params, whatever it is called there. */
type Value = Omit<FieldDescriptor, 'name' | 'label'> & { readonly label: string };

/**
 * Creates the schema of an object of params. Every value has our keyword, because numbers arrive as text and become
 * decimals, ids or dates, which rules then check. Objects are closed: an unknown field is a mistake of the caller.
 *
 * @param label the name in messages
 */
export function objectSchema(
  fields: readonly FieldDescriptor[],
  source: ValueSource,
  label: string,
): PreparedSchema {
  return objectValue({ type: { kind: 'object', fields }, label }, fields, source);
}

function valueSchema(value: Value, source: ValueSource): PreparedSchema {
  const { type } = value;
  if (type.kind === 'object') return objectValue(value, type.fields, source);
  return type.kind === 'list' ? listValue(value, type, source) : leafValue(value, source);
}

function objectValue(value: Value, fields: readonly FieldDescriptor[], source: ValueSource): PreparedSchema {
  const required = fields.filter(({ optional }) => optional !== true).map(({ name }) => name);
  return {
    fw: checked(value, isPlainObject),
    properties: Object.fromEntries(
      fields.map((field) => [
        field.name,
        valueSchema({ ...field, label: field.label ?? field.name }, source),
      ]),
    ),
    additionalProperties: false,
    ...(required.length === 0 ? {} : { required }),
    ...defaultOf(value),
  };
}

function listValue(
  value: Value,
  { of, nullable }: Extract<FieldType, { kind: 'list' }>,
  source: ValueSource,
): PreparedSchema {
  return {
    fw: checked(value, isArray),
    items: valueSchema(
      { type: of, label: `${value.label}[]`, ...(nullable === true ? { nullable } : {}) },
      source,
    ),
    ...defaultOf(value),
  };
}

function leafValue(value: Value, source: ValueSource): PreparedSchema {
  const { type, rules } = value;
  const convert = compileConverter(type, source, rules?.integer === true);
  return {
    fw: checked(value, rules === undefined ? convert : withRules(convert, compileRules(rules))),
    ...defaultOf(value),
  };
}

function withRules(convert: Converter, broken: RuleCheck): Converter {
  return (value) => {
    const converted = convert(value);
    if (converted instanceof Refusal) return converted;
    const reason = broken(converted);
    return reason === undefined ? converted : new Refusal(reason);
  };
}

function checked({ type, label, nullable }: Value, convert: Converter): CheckedValue {
  return { label, nullable: nullable === true || type.kind === 'json', convert };
}

function defaultOf({ default: absent }: Value): PreparedSchema {
  return absent === undefined ? {} : { default: absent };
}

const isPlainObject: Converter = (value) =>
  typeof value === 'object' && !Array.isArray(value) && !isLosslessNumber(value)
    ? value
    : new Refusal('must be a JSON object');

const isArray: Converter = (value) => (Array.isArray(value) ? value : new Refusal('must be a JSON array'));
