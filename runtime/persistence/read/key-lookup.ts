import type { NaturalKey } from '../../domain/descriptor.js';
import type { Entity, ModelDescriptor } from '../../domain/entity.js';
import { type KeyLookup, keyLookup, keyTextOf, lookupOf } from '../../domain/natural-key.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { PlanMisuseError, ValidationError } from '../../errors.js';
import type { NamedText, Statement } from '../../sharding/shard-database.js';
import { textArray } from '../codec/column-codec.js';
import { RowCodec } from '../codec/row-codec.js';
import { arrayType, quoteIdentifier } from '../codec/sql-identifier.js';

/**
 * The look-up of a model by the values of a natural key.
 *
 * @throws PlanMisuseError if the fields are not those of a key
 * @throws ValidationError if a value is missing or does not fit its column
 */
export function lookupByValues(
  model: ModelDescriptor,
  shard: ShardIdentifier,
  values: Readonly<Record<string, unknown>>,
): KeyLookup {
  const key = keyWithFields(model, Object.keys(values));
  const codec = RowCodec.of(model);
  const texts = key.fields.map((field) => {
    const value = values[field];
    const column = codec.columns.find(({ descriptor }) => descriptor.field === field);
    if (value === null || value === undefined || column === undefined) {
      throw new ValidationError(`${field} cannot be null`, { field });
    }
    // Validates the value: a cast might round or truncate one that does not fit the column.
    column.codec.toText(value);
    return keyTextOf(column.descriptor.type, value);
  });
  return keyLookup(model, key, shard, texts);
}

/**
 * The look-up of the model that holds the same first key as this model.
 * @throws PlanMisuseError if the model has no key
 */
export function lookupBySameKey(
  model: ModelDescriptor,
  like: Entity,
  defaultShard: ShardIdentifier,
): KeyLookup {
  const [key] = model.keys ?? [];
  if (key === undefined)
    throw new PlanMisuseError(`${model.name} has no natural key: mark a field with @Key`);
  const lookup = lookupOf(like, key, defaultShard);
  if (lookup !== undefined) return lookup;
  throw new ValidationError(`${key.fields.join(', ')} of ${model.name} cannot be null`);
}

function keyWithFields(model: ModelDescriptor, fields: readonly string[]): NaturalKey {
  const keys = model.keys ?? [];
  const found = keys.find(
    (key) => key.fields.length === fields.length && key.fields.every((field) => fields.includes(field)),
  );
  if (found !== undefined) return found;
  const known = keys.map((key) => `{ ${key.fields.join(', ')} }`).join(' or ');
  throw new PlanMisuseError(
    `${model.name} has no natural key of the fields { ${fields.join(', ')} }` +
      (known === '' ? ': mark a field with @Key' : `: use ${known}`),
  );
}

const texts = new WeakMap<NaturalKey, NamedText>();
let textCount = 0;

/**
 * Reads the models that hold these keys, with the columns of `RowCodec` and the revisions.
 *
 * @param keys one list of texts per key, no two of them equal
 */
export function keyStatement(
  model: ModelDescriptor,
  key: NaturalKey,
  keys: readonly (readonly string[])[],
): Statement {
  let text = texts.get(key);
  if (text === undefined) {
    textCount += 1;
    text = { name: `fw_keys_${textCount}`, text: keyQuery(model, key) };
    texts.set(key, text);
  }
  const values = key.fields.map((_, position) => textArray(keys.map((each) => each[position] ?? '')));
  return { ...text, values };
}

function keyQuery(model: ModelDescriptor, key: NaturalKey): string {
  const columns = RowCodec.of(model).columns.map(
    ({ descriptor }) => `t.${quoteIdentifier(descriptor.column)}`,
  );
  const fields = key.fields.flatMap((field) => model.columns.filter((column) => column.field === field));
  const types = fields.map(({ sqlType }, position) => `$${position + 1}::${arrayType(sqlType)}`);
  const names = fields.map((_, position) => `k${position}`);
  const conditions = fields.map(({ column }, position) => `t.${quoteIdentifier(column)} = k.k${position}`);
  const live = liveCondition(model);
  if (live !== undefined) conditions.push(live);
  return (
    `SELECT ${columns.join(', ')}, t.xmin FROM unnest(${types.join(', ')}) AS k(${names.join(', ')}) ` +
    `JOIN ${quoteIdentifier(model.table)} AS t ON ${conditions.join(' AND ')}`
  );
}

/** Repeats the condition of the partial index, so that the planner can use the index. */
function liveCondition({ columns, deletedStates = [] }: ModelDescriptor): string | undefined {
  const state = columns.find(({ field }) => field === 'state');
  if (state === undefined || deletedStates.length === 0) return undefined;
  const states = deletedStates.map((each) => `'${each.replaceAll("'", "''")}'`);
  return `t.${quoteIdentifier(state.column)} NOT IN (${states.join(', ')})`;
}
