import type { JsonView } from './json-view.js';

/** One row of a table of fields. */
export interface FieldView {
  /** With the path to it: `items[].id`. */
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
}

/** Schemas may contain themselves. */
const DEEPEST = 4;

/** The fields of an object schema, nested ones included. */
export function fieldsOf(schema: JsonView, prefix = '', depth = 0): readonly FieldView[] {
  const resolved = schema.resolved();
  if (depth > DEEPEST) return [];
  const required = resolved
    .at('required')
    .items()
    .map((name) => name.text());
  return resolved
    .at('properties')
    .entries()
    .flatMap(([key, property]) => {
      const name = prefix + key;
      const field = property.resolved();
      const description = property.text('description') || field.text('description');
      const row = { name, type: typeText(field), required: required.includes(key), description };
      const items = field.at('items').resolved();
      const nested = items.exists
        ? fieldsOf(items, `${name}[].`, depth + 1)
        : fieldsOf(field, `${name}.`, depth + 1);
      return [row, ...nested];
    });
}

/** A short name of a schema's type with its limits: `integer, 1 to 200, default 50`. */
export function typeText(schema: JsonView): string {
  return [baseType(schema), ...limitsOf(schema)].join(', ');
}

function baseType(schema: JsonView): string {
  const alternatives = schema.at('anyOf').items();
  if (alternatives.length > 0) return alternatives.map((item) => baseType(item.resolved())).join(' or ');
  const values = schema.at('enum').items();
  if (values.length > 0) return choice(values.map((item) => JSON.stringify(item.value)));
  const format = schema.text('format');
  if (schema.text('type') === 'string' && format !== '') return format;
  if (schema.text('type') === 'array') return `list of ${baseType(schema.at('items').resolved())}`;
  const names = schema
    .at('type')
    .items()
    .map((item) => item.text());
  return names.length > 0 ? names.join(' or ') : schema.text('type') || 'any JSON';
}

/** Longer lists are shown by their first values. */
const MOST_VALUES = 12;
const SHOWN_VALUES = 3;

function choice(values: readonly string[]): string {
  if (values.length <= MOST_VALUES) return values.join(' | ');
  return `${values.slice(0, SHOWN_VALUES).join(' | ')} | ... (${values.length} values)`;
}

function limitsOf(schema: JsonView): readonly string[] {
  const limits: string[] = [];
  const number = (keyword: string): number | undefined => {
    const { value } = schema.at(keyword);
    return typeof value === 'number' ? value : undefined;
  };
  const [minimum, maximum, length] = [number('minimum'), number('maximum'), number('maxLength')];
  if (minimum !== undefined && maximum !== undefined) limits.push(`${minimum} to ${maximum}`);
  else if (minimum !== undefined) limits.push(`at least ${minimum}`);
  else if (maximum !== undefined) limits.push(`at most ${maximum}`);
  if (length !== undefined) limits.push(`at most ${length} characters`);
  const fallback = schema.at('default');
  if (fallback.exists) limits.push(`default ${JSON.stringify(fallback.value)}`);
  return limits;
}

/** An example value of a schema, from its own examples if it has any. */
export function exampleOf(schema: JsonView, depth = 0): unknown {
  const resolved = schema.resolved();
  const [example] = resolved.at('examples').items();
  if (example !== undefined) return example.value;
  if (resolved.at('default').exists) return resolved.at('default').value;
  const [value] = resolved.at('enum').items();
  if (value !== undefined) return value.value;
  const [alternative] = resolved.at('anyOf').items();
  if (alternative !== undefined) return exampleOf(alternative, depth);
  const type = resolved.text('type') || (resolved.at('type').items()[0]?.text() ?? '');
  switch (type) {
    case 'object':
      if (depth > DEEPEST) return {};
      return Object.fromEntries(
        resolved
          .at('properties')
          .entries()
          .map(([name, property]) => [name, exampleOf(property, depth + 1)]),
      );
    case 'array':
      return depth > DEEPEST ? [] : [exampleOf(resolved.at('items'), depth + 1)];
    case 'string':
      return exampleOfFormat(resolved.text('format'));
    case 'integer':
    case 'number':
      return 1;
    case 'boolean':
      return true;
    default:
      return {};
  }
}

function exampleOfFormat(format: string): string {
  if (format === 'uuid') return '01942f5e-7c00-7a3b-8040-5d0e9c6b1f27';
  return format === 'date-time' ? '2026-01-31T09:30:00.000Z' : 'string';
}
