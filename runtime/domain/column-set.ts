import { memoize } from '../collections/memoize.js';
import type { ColumnDescriptor } from './descriptor.js';
import { type Entity, fieldOf, type ModelDescriptor } from './entity.js';

/** Columns of a model that an update sets. The version is always included, the id never. */
export interface ColumnSet {
  /** Equal for equal sets of one model. */
  readonly key: string;
  /** Indexes of the descriptor's columns, in ascending order. */
  readonly positions: readonly number[];
}

/** Maximum cached sets per model: an application has a few. Further ones are created each time. */
const MAXIMUM_KNOWN = 64;

const setsOf = memoize((_: ModelDescriptor) => new Map<string, ColumnSet>());

/** Every column except the id. */
export const allColumns: (model: ModelDescriptor) => ColumnSet = memoize((model) => setOf(model, () => true));

/** The columns of these fields, and the version. Unknown fields are ignored. */
export function columnsOfFields(model: ModelDescriptor, fields: Iterable<string>): ColumnSet {
  const wanted = new Set(fields);
  return setOf(model, ({ field }) => wanted.has(field));
}

/**
 * The columns in which a state differs from the stored one that it was copied from. Values are compared by identity: a
 * field that was set to another object counts as changed.
 *
 * @param base undefined if the state was not copied from a stored one of its version: all columns
 */
export function changedColumns(model: ModelDescriptor, base: Entity | undefined, state: Entity): ColumnSet {
  if (base === undefined) return allColumns(model);
  return setOf(model, ({ field }) => fieldOf(state, field) !== fieldOf(base, field));
}

/** The columns of either set. */
export function unionOf(model: ModelDescriptor, one: ColumnSet, other: ColumnSet): ColumnSet {
  if (one.key === other.key) return one;
  const positions = new Set([...one.positions, ...other.positions]);
  return setOf(model, (_, position) => positions.has(position));
}

/** Names of the fields. */
export function fieldsOf(model: ModelDescriptor, { positions }: ColumnSet): readonly string[] {
  return positions.flatMap((position) => model.columns[position]?.field ?? []);
}

function setOf(
  model: ModelDescriptor,
  has: (column: ColumnDescriptor, position: number) => boolean,
): ColumnSet {
  let key = '';
  let position = 0;
  for (const column of model.columns) {
    const { field } = column;
    if (field === 'version' || (field !== 'id' && has(column, position))) key += `${position},`;
    position += 1;
  }
  const sets = setsOf(model);
  const found = sets.get(key);
  if (found !== undefined) return found;
  const made: ColumnSet = { key, positions: key.split(',').slice(0, -1).map(Number) };
  if (sets.size < MAXIMUM_KNOWN) sets.set(key, made);
  return made;
}
