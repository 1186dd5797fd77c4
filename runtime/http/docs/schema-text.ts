/** A schema of the API document. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly examples?: readonly unknown[];
  readonly [limit: string]: unknown;
}

/** Returns the schema that a reference names, or the schema itself. */
export type Resolve = (schema?: Schema) => Schema;

/** One row of a list of fields. */
export interface FieldRow {
  /** With the path to it: `items[].id`. */
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description?: string | undefined;
}

/** Schemas may contain themselves. */
const DEEPEST = 4;

/** The fields of an object schema, nested ones included. */
export function fieldsOf(resolve: Resolve, schema?: Schema, prefix = '', depth = 0): readonly FieldRow[] {
  const { properties = {}, required = [] } = resolve(schema);
  if (depth > DEEPEST) return [];
  return Object.entries(properties).flatMap(([key, property]) => {
    const field = resolve(property);
    const name = prefix + key;
    const description = property.description ?? field.description;
    const nested = field.items === undefined ? [field, `${name}.`] : ([field.items, `${name}[].`] as const);
    return [
      { name, type: typeText(resolve, field), required: required.includes(key), description },
      ...fieldsOf(resolve, nested[0] as Schema, nested[1] as string, depth + 1),
    ];
  });
}

/** A short name of a schema's type with its limits: `integer, 1 to 200, default 50`. */
export function typeText(resolve: Resolve, schema?: Schema): string {
  const { minimum, maximum, maxLength, maxItems, default: absent } = resolve(schema);
  const range = [
    minimum === undefined ? '' : maximum === undefined ? `at least ${minimum}` : `${minimum} to ${maximum}`,
    minimum === undefined && maximum !== undefined ? `at most ${maximum}` : '',
    maxLength === undefined ? '' : `at most ${maxLength} characters`,
    maxItems === undefined ? '' : `at most ${maxItems} items`,
    absent === undefined ? '' : `default ${JSON.stringify(absent)}`,
  ];
  return [baseType(resolve, schema), ...range].filter((text) => text !== '').join(', ');
}

function baseType(resolve: Resolve, schema?: Schema): string {
  const { anyOf, enum: values, type, format, items } = resolve(schema);
  if (anyOf !== undefined) return anyOf.map((each) => baseType(resolve, each)).join(' or ');
  if (values !== undefined) return choice(values.map((value) => JSON.stringify(value)));
  if (type === 'array') return `list of ${baseType(resolve, items)}`;
  if (type === 'string' && format !== undefined) return format;
  return type === undefined ? 'any JSON' : [type].flat().join(' or ');
}

/** Longer lists are shown by their first values. */
const MOST_VALUES = 12;

function choice(values: readonly string[]): string {
  return values.length <= MOST_VALUES
    ? values.join(' | ')
    : `${values.slice(0, 3).join(' | ')} | ... (${values.length} values)`;
}

const STRINGS: Readonly<Record<string, string>> = {
  uuid: '01942f5e-7c00-7a3b-8040-5d0e9c6b1f27',
  'date-time': '2026-01-31T09:30:00.000Z',
};

/** An example value of a schema, from its own examples if it has any. */
export function exampleOf(resolve: Resolve, schema?: Schema, depth = 0): unknown {
  const { examples, default: absent, enum: values, anyOf, type, format = '', ...rest } = resolve(schema);
  const known = [examples?.[0], absent, values?.[0]].find((value) => value !== undefined);
  if (known !== undefined) return known;
  if (anyOf !== undefined) return exampleOf(resolve, anyOf[0], depth);
  switch ([type].flat()[0]) {
    case 'array':
      return depth > DEEPEST ? [] : [exampleOf(resolve, rest.items, depth + 1)];
    case 'string':
      return STRINGS[format] ?? 'string';
    case 'integer':
    case 'number':
      return 1;
    case 'boolean':
      return true;
    default: {
      const properties = depth > DEEPEST ? [] : Object.entries(rest.properties ?? {});
      return Object.fromEntries(
        properties.map(([name, each]) => [name, exampleOf(resolve, each, depth + 1)]),
      );
    }
  }
}
