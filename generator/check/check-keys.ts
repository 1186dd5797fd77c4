import { type Diagnostic, diagnostic } from '../diagnostics.js';
import { columnsOf } from '../schema/columns.js';
import { columnsOfKey } from '../schema/key-indexes.js';
import type { KeySchema, ModelSchema } from '../schema/project-schema.js';
import type { TypeSchema } from '../schema/type-schema.js';

/** Column types for which the database and a process agree on equality. */
const TEXT = /^(text|varchar( ?\(\d+\))?|character varying( ?\(\d+\))?)$/i;
const COMPARED_ALIKE: Partial<Readonly<Record<TypeSchema['kind'], RegExp>>> = {
  string: TEXT,
  enum: TEXT,
  number: /^(double precision|float8|bigint|int8|integer|int4?|smallint|int2)$/i,
  bigint: /^(bigint|int8|integer|int4?|smallint|int2)$/i,
  boolean: /^bool(ean)?$/i,
  instant: /^(timestamptz|timestamp with time zone)$/i,
  decimal: /^(numeric|decimal) ?\(\d+(, ?\d+)?\)$/i,
  uuid: /^uuid$/i,
  id: /^uuid$/i,
  currency: /^(text|(char|character|varchar|character varying) ?\(3\))$/i,
};

/** Rules of natural keys and their fields. */
export function checkKeys(models: readonly ModelSchema[]): readonly Diagnostic[] {
  return models.flatMap((model) => [
    ...(model.keys ?? []).flatMap((key) => checkFields(model, key)),
    ...checkRepeated(model),
  ]);
}

function checkFields(model: ModelSchema, key: KeySchema): readonly Diagnostic[] {
  const columns = columnsOf(model);
  return key.fields.flatMap((marked) => {
    const [column] = columnsOfKey({ fields: [marked] }, columns);
    if (column === undefined) return [];
    const { field, sqlType } = column;
    const { value: name, location } = marked;
    if (field.optional || field.nullable) {
      const hint = `Make it required, \`readonly ${name}!: Type;\`: rows without a value are neither unique nor found by the key.`;
      return [diagnostic('FWGEN058', location, `${name} is part of a key and may be null or absent`, hint)];
    }
    const alike = COMPARED_ALIKE[field.type.kind];
    if (alike === undefined) {
      const hint =
        'Use `string`, `number`, `bigint`, `boolean`, `Date`, `Decimal`, `Uuid`, `Currency` or an id.';
      return [
        diagnostic('FWGEN058', location, `A field of type ${field.type.kind} cannot be part of a key`, hint),
      ];
    }
    if (alike.test(sqlType.trim())) return [];
    const hint =
      'Remove `type` of this field from `columns`: with the default column type, the database and the application agree on which values are equal.';
    return [
      diagnostic('FWGEN058', location, `${name} is part of a key, but its column type is ${sqlType}`, hint),
    ];
  });
}

/** Two keys with the same fields would be equal. */
function checkRepeated({ keys = [] }: ModelSchema): readonly Diagnostic[] {
  const known = new Map<string, KeySchema>();
  const diagnostics: Diagnostic[] = [];
  for (const key of keys) {
    const [first] = key.fields;
    const set = key.fields
      .map(({ value }) => value)
      .sort()
      .join();
    const other = known.get(set);
    if (other === undefined) known.set(set, key);
    else if (first !== undefined) {
      const message = `Two keys have the same fields: ${key.fields.map(({ value }) => value).join(', ')}`;
      diagnostics.push(diagnostic('FWGEN059', first.location, message, 'Remove one of them.'));
    }
  }
  return diagnostics;
}
