import { suggest } from '../../runtime/config/suggest.js';
import { type Diagnostic, diagnostic, formatLocation } from '../diagnostics.js';
import { type ColumnSchema, columnsOf, isInherited, parseNumeric } from '../schema/columns.js';
import { isNumeric } from '../schema/constraints.js';
import { IDENTIFIER_BYTES } from '../schema/key-indexes.js';
import type { SourceLocation } from '../schema/location.js';
import { modelNames, setterName } from '../schema/model-names.js';
import type { ColumnOption, ModelSchema, ProjectSchema } from '../schema/project-schema.js';
import type { FieldSchema, TypeSchema } from '../schema/type-schema.js';
import { checkKeys } from './check-keys.js';
import { repeated } from './check-names.js';

/** Names of inherited members, which other code calls. `__proto__` is refused for all fields. */
const RESERVED_FIELDS: ReadonlySet<string> = new Set(
  Object.getOwnPropertyNames(Object.prototype).filter((name) => name !== '__proto__'),
);

/** System columns of every PostgreSQL table. */
const SYSTEM_COLUMNS: ReadonlySet<string> = new Set(['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid']);

/** Rules of models: their fields, columns, tables, states and keys. */
export function checkModels(schema: ProjectSchema): readonly Diagnostic[] {
  const keys = checkKeys(schema.models);
  const models = schema.models.flatMap((model) => [
    ...model.fields.flatMap((field) => checkField(model, field)),
    ...checkColumns(model),
    ...checkTable(model),
    ...checkOptions(model),
    ...checkDeletedStates(model),
  ]);
  return [...models, ...keys];
}

function checkField(model: ModelSchema, field: FieldSchema): readonly Diagnostic[] {
  if (isInherited(model, field.name)) {
    const base = model.kind === 'model' ? 'Model' : 'Entity';
    const id = `${model.sharded ? 'ShardedId' : 'Id'}<${model.name}>`;
    const hint = `Remove it: \`extends ${base}<${model.name}, ${id}, 'OPEN'>\` declares it.`;
    return [diagnostic('FWGEN006', field.location, `${base} already declares ${field.name}`, hint)];
  }
  if (RESERVED_FIELDS.has(field.name)) {
    const message = `A model field cannot be named ${field.name}`;
    const hint = `Rename it, for example to \`${field.name}Value\`: every object has a member with this name.`;
    return [diagnostic('FWGEN005', field.location, message, hint)];
  }
  // Only a field with this prefix can have the same name as another field's setter.
  if (!field.name.startsWith('with')) return [];
  const other = model.fields.find(({ name }) => name !== field.name && setterName(name) === field.name);
  if (other === undefined) return [];
  const message = `${field.name} is the name of the setter of ${other.name} in builders of ${model.name}`;
  const hint = `Rename one of the fields, for example to \`${field.name}Value\`.`;
  return [diagnostic('FWGEN005', field.location, message, hint)];
}

function checkColumns(model: ModelSchema): readonly Diagnostic[] {
  // A field without a name is reported as such.
  const columns = columnsOf(model).filter(
    ({ field, inherited }) => field.name !== '' && (!inherited || !isOwn(model, field.name)),
  );
  const shared = repeated(columns, ({ column }) => column).map(([{ field: first }, { field, column }]) => {
    const message = `${field.name} and ${first.name} at ${formatLocation(first.location)} share the column ${column}`;
    const hint = `Name another one: \`@AutoBuilder({ columns: { ${field.name}: { name: '${column}_2' } } })\`.`;
    return diagnostic('FWGEN017', field.location, message, hint);
  });
  return [...shared, ...columns.flatMap((column) => checkColumn(model, column))];
}

function isOwn(model: ModelSchema, name: string): boolean {
  return model.fields.some((field) => field.name === name);
}

function checkColumn(model: ModelSchema, column: ColumnSchema): readonly Diagnostic[] {
  const option = model.columns.find((each) => each.field === column.field.name);
  const location = option?.location ?? column.field.location;
  const name = SYSTEM_COLUMNS.has(column.column)
    ? [unacceptable(location, `The column name ${column.column} is reserved by PostgreSQL`)]
    : FIXED.has(column.field.name) && column.column !== column.field.name
      ? [
          unacceptable(
            location,
            `The column of ${column.field.name} must have this name too, not ${column.column}`,
          ),
        ]
      : checkIdentifier(location, 'column', column.column);
  const isDecimal = column.field.type.kind === 'decimal';
  const numeric = parseNumeric(column.sqlType);
  const typeFits = isDecimal ? numeric !== undefined && isNumeric(numeric) : SQL_TYPE.test(column.sqlType);
  if (typeFits) {
    const unfit = UNFIT[column.field.type.kind]?.test(column.sqlType) === true;
    const lossy = `The column type ${JSON.stringify(column.sqlType)} does not hold each value of ${column.field.name} unchanged`;
    return unfit ? [...name, unacceptable(location, lossy)] : name;
  }
  const expected = isDecimal ? 'numeric(precision, scale)' : 'the name of an SQL type';
  const message = `The column type ${JSON.stringify(column.sqlType)} of ${column.field.name} is not ${expected}`;
  return [...name, unacceptable(location, message)];
}

/** Fields of every model whose columns statements name. */
const FIXED: ReadonlySet<string> = new Set(['id', 'version']);

const NO_DOCUMENT = /^(?!jsonb?$)/i;
/** Types that round, pad or cut off values of a field, or have another form in node-postgres. */
const UNFIT: Partial<Record<TypeSchema['kind'], RegExp>> = {
  string: /^(bpchar|char(acter)?)\b(?! varying)/i,
  number: /^(real|float4|(numeric|decimal) ?\(.*\))$/i,
  instant: /^(?!timestamptz( ?\([3-6]\))?$|timestamp ?(\([3-6]\) ?)?with time zone$)/i,
  ...{ object: NO_DOCUMENT, list: NO_DOCUMENT, tuple: NO_DOCUMENT, record: NO_DOCUMENT },
  ...{ json: NO_DOCUMENT, union: NO_DOCUMENT, recursive: NO_DOCUMENT },
};

/** The type is inserted unchanged into migrations and statements. */
const SQL_TYPE = /^[a-z][a-z0-9_]*( [a-z]+)*( ?\(\d+(, ?\d+)?\))?( with(out)? time zone)?(\[\])?$/i;

function checkTable(model: ModelSchema): readonly Diagnostic[] {
  const { table } = modelNames(model);
  const location = model.table?.location ?? model.location;
  // PostgreSQL would find the table of its own catalog instead.
  return table.startsWith('pg_')
    ? [unacceptable(location, `The table name ${table} is reserved by PostgreSQL`)]
    : checkIdentifier(location, 'table', table);
}

function checkIdentifier(location: SourceLocation, what: string, name: string): readonly Diagnostic[] {
  const problem =
    name === ''
      ? 'is empty'
      : name.includes('\0')
        ? 'contains a NUL character'
        : what === 'column' && /\.| as /i.test(name)
          ? 'contains a dot or the word as, which separate names in statements'
          : Buffer.byteLength(name) > IDENTIFIER_BYTES
            ? `is longer than ${IDENTIFIER_BYTES} bytes`
            : undefined;
  return problem === undefined
    ? []
    : [unacceptable(location, `The ${what} name ${JSON.stringify(name)} ${problem}`)];
}

function unacceptable(location: SourceLocation, message: string): Diagnostic {
  return diagnostic('FWGEN020', location, message, 'Set another one in @AutoBuilder({ table, columns }).');
}

function checkOptions(model: ModelSchema): readonly Diagnostic[] {
  const known = columnsOf(model).map(({ field }) => field.name);
  return model.columns.flatMap((option) => {
    if (known.includes(option.field)) return [];
    const message = `${model.name} has no field ${JSON.stringify(option.field)}`;
    const meant = suggest(option.field, known) ?? model.fields[0]?.name ?? 'state';
    const hint = `Write ${optionForm(option, meant)}. Its fields: ${known.join(', ')}.`;
    return diagnostic('FWGEN018', option.location, message, hint);
  });
}

/** The code of the decorator with the same option for another field. */
function optionForm({ name, type }: ColumnOption, field: string): string {
  const options = Object.entries({ name, type }).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}: '${value}'`],
  );
  return `\`@AutoBuilder({ columns: { ${field}: { ${options.join(', ')} } } })\``;
}

function checkDeletedStates(model: ModelSchema): readonly Diagnostic[] {
  if (model.state.kind !== 'enum') return [];
  const states = model.state.values;
  const hint = `Use one of ${states.join(', ')}.`;
  return model.deletedStates.flatMap(({ value, location }) => {
    if (states.includes(value)) return [];
    return diagnostic('FWGEN019', location, `${model.name} has no state ${JSON.stringify(value)}`, hint);
  });
}
