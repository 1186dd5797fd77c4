import { type Diagnostic, diagnostic } from '../diagnostics.js';
import { columnsOf } from '../schema/columns.js';
import { columnsOfKey, keyIndexes } from '../schema/key-indexes.js';
import type { KeySchema, ModelSchema } from '../schema/project-schema.js';
import type { TypeSchema } from '../schema/type-schema.js';
import { repeated } from './check-names.js';

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
  const checked = models.flatMap((model) => [
    ...(model.keys ?? []).flatMap((key) => checkFields(model, key)),
    ...checkRepeated(model),
    ...checkShared(model),
  ]);
  return [...checked, ...checkIndexNames(models)];
}

/** All indexes of a database have different names, but words of a table and of columns may divide one in two ways. */
function checkIndexNames(models: readonly ModelSchema[]): readonly Diagnostic[] {
  const indexes = models.flatMap((model) =>
    keyIndexes(model).map(({ name, columns }, at) => ({ model, name, columns, key: model.keys?.[at] })),
  );
  return repeated(indexes, ({ name }) => name).flatMap(([first, { model, name, columns, key }]) => {
    // Keys with the same fields are reported as such.
    if (first.model === model && first.columns.join() === columns.join()) return [];
    const message = `The index name ${JSON.stringify(name)} of a key already belongs to a key of ${first.model.name}`;
    const hint = 'Set another name of one of the columns in @AutoBuilder({ columns }).';
    return diagnostic('FWGEN020', key?.fields[0]?.location ?? model.location, message, hint);
  });
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
      return diagnostic('FWGEN058', location, `${name} is part of a key and may be null or absent`, hint);
    }
    const alike = COMPARED_ALIKE[field.type.kind];
    if (alike === undefined) {
      const hint =
        'Use `string`, `number`, `bigint`, `boolean`, `Date`, `Decimal`, `Uuid`, `Currency` or an id.';
      const message = `A field of type ${field.type.kind} cannot be part of a key`;
      return diagnostic('FWGEN058', location, message, hint);
    }
    if (alike.test(sqlType.trim())) return [];
    const hint =
      'Remove `type` of this field from `columns`: with the default column type, the database and the application agree on which values are equal.';
    const message = `${name} is part of a key, but its column type is ${sqlType}`;
    return diagnostic('FWGEN058', location, message, hint);
  });
}

/** Two keys with the same fields would be equal. */
function checkRepeated({ keys = [] }: ModelSchema): readonly Diagnostic[] {
  return repeated(keys, (key) => namesIn(key).toSorted().join()).flatMap(([, key]) => {
    const [first] = key.fields;
    const message = `Two keys have the same fields: ${namesIn(key).join(', ')}`;
    return first === undefined ? [] : diagnostic('FWGEN059', first.location, message, 'Remove one of them.');
  });
}

/** Two keys of one field each, or one of two fields: without a name both look alike. */
function checkShared({ keys = [] }: ModelSchema): readonly Diagnostic[] {
  return keys.flatMap((key) => {
    const [first, second] = key.fields;
    if (key.name !== undefined || first === undefined || second === undefined) return [];
    const message = `Several fields have a key without a name: ${namesIn(key).join(', ')}`;
    const hint = `Give them the same name if they are one key together, such as @Key('${first.value}'), or a name each.`;
    return diagnostic('FWGEN059', second.location, message, hint);
  });
}

function namesIn({ fields }: KeySchema): readonly string[] {
  return fields.map(({ value }) => value);
}
