import type { StagedItem } from '../../action/action-plan.js';
import { allColumns, type ColumnSet, unionOf } from '../../domain/column-set.js';
import type { ModelDescriptor } from '../../domain/entity.js';
import { type Entity, rowOf } from '../../domain/entity.js';
import { PlanMisuseError } from '../../errors.js';
import { RowCodec } from '../codec/row-codec.js';
import type { WriteGroup } from '../shard-store.js';

/** The change of one row by a group, with all its plans folded into one change. */
export interface RowChange {
  readonly kind: StagedItem['kind'];
  readonly descriptor: ModelDescriptor;
  /** The last state. */
  readonly model: Entity;
  /** The version that the row must have before the first change; 0 for an insert. */
  readonly expectedVersion: number;
  /** Of an update: the columns that any of its plans changes. Default: all columns. */
  readonly changed?: ColumnSet | undefined;
  /** Of an update: names of the natural keys that the row held before. Default: none, or unknown. */
  readonly heldBefore?: readonly string[] | undefined;
  /** The remembered state that the first change starts from. Default: none. */
  readonly guess?: Entity | undefined;
}

/** The columns that the update of a row sets. */
export function changedBy({ descriptor, changed }: RowChange): ColumnSet {
  return changed ?? allColumns(descriptor);
}

/**
 * The changes of a group, one per row, in staging order.
 *
 * @throws ValidationError if a state that is skipped does not fit its columns, or if only the server can decide
 */
export function foldGroup(group: WriteGroup): readonly RowChange[] {
  const [only] = group;
  if (group.length === 1 && only !== undefined) return only.items.map(toChange);
  const rows = new Map<string, RowChange>();
  for (const { items } of group) {
    for (const item of items) {
      const row = rowOf(item.model);
      const before = rows.get(row);
      rows.set(row, before === undefined ? toChange(item) : follow(before, item));
    }
  }
  return [...rows.values()];
}

function toChange(item: StagedItem): RowChange {
  return item.kind === 'add' ? { ...item, expectedVersion: 0 } : item;
}

/**
 * The batch builder adds a second change of a row only if it is an update from the version of the previous change, or
 * an expectation of a version that is already expected.
 */
function follow(before: RowChange, item: StagedItem): RowChange {
  if (item.kind === 'expect' && before.kind === 'expect' && before.expectedVersion === item.expectedVersion) {
    return { ...before, guess: before.guess ?? item.guess };
  }
  if (item.kind !== 'update' || before.kind === 'expect' || before.model.version !== item.expectedVersion) {
    throw new PlanMisuseError(`${item.descriptor.name} ${item.model.id.getValue()} cannot be folded`);
  }
  RowCodec.of(item.descriptor).judgeReplaced(before.model, item.model);
  const { kind, descriptor, expectedVersion, heldBefore, guess } = before;
  const changed = kind === 'add' ? undefined : unionOf(descriptor, changedBy(before), changedBy(item));
  return { kind, descriptor, model: item.model, expectedVersion, changed, heldBefore, guess };
}
