import type { ColumnDescriptor } from './descriptor.js';
import type { ModelDescriptor } from './entity.js';
import { type Entity, fieldOf } from './entity.js';

/** Some columns of a model: those that an update sets. The version is always among them, the id never. */
export interface ColumnSet {
  /** Equal for equal sets of one model. */
  readonly key: string;
  /** Positions among the columns of the descriptor, in their order. */
  readonly positions: readonly number[];
}

interface Known {
  readonly all: ColumnSet;
  readonly sets: Map<string, ColumnSet>;
}

/** Sets that are remembered of each model: an application has a few. Further ones are created each time. */
const MAXIMUM_KNOWN = 64;

const known = new WeakMap<ModelDescriptor, Known>();

/** Every column but the id. */
export function allColumns(model: ModelDescriptor): ColumnSet {
  return knownOf(model).all;
}

/** The columns of these fields, and the version. Fields that the model does not have are left out. */
export function columnsOfFields(model: ModelDescriptor, fields: Iterable<string>): ColumnSet {
  const wanted = new Set(fields);
  return setOf(model, ({ field }) => wanted.has(field));
}

/**
 * The columns in which a state differs from the stored one that it was copied from. Values are compared by identity:
 * a field that was set to an object has changed, whatever the object is.
 *
 * @param base undefined if the state was not copied from a stored one of its version: all columns
 */
export function changedColumns(model: ModelDescriptor, base: Entity | undefined, state: Entity): ColumnSet {
  if (base === undefined) return allColumns(model);
  return setOf(model, (column) => {
    const value = fieldOf(state, column.field);
    return value !== fieldOf(base, column.field) || mayHaveChanged(value, column);
  });
}

/** All columns of both. */
export function unionOf(model: ModelDescriptor, one: ColumnSet, other: ColumnSet): ColumnSet {
  if (one.key === other.key) return one;
  const positions = new Set([...one.positions, ...other.positions]);
  return setOf(model, (_, position) => positions.has(position));
}

/** Names of the fields. */
export function fieldsOf(model: ModelDescriptor, { positions }: ColumnSet): readonly string[] {
  return positions.flatMap((position) => model.columns[position]?.field ?? []);
}

/** What was read is frozen; what was staged may hold an array that its owner has gone on filling. */
function mayHaveChanged(value: unknown, { type }: ColumnDescriptor): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return (type.kind === 'json' || type.kind === 'list' || type.kind === 'object') && !Object.isFrozen(value);
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
  const { sets } = knownOf(model);
  const found = sets.get(key);
  if (found !== undefined) return found;
  const made: ColumnSet = { key, positions: key.split(',').slice(0, -1).map(Number) };
  if (sets.size < MAXIMUM_KNOWN) sets.set(key, made);
  return made;
}

function knownOf(model: ModelDescriptor): Known {
  const found = known.get(model);
  if (found !== undefined) return found;
  const positions = [...model.columns.keys()].filter((position) => model.columns[position]?.field !== 'id');
  const all = { key: positions.map((position) => `${position},`).join(''), positions };
  const made = { all, sets: new Map([[all.key, all]]) };
  known.set(model, made);
  return made;
}
