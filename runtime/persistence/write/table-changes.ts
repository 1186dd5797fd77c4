import type { ModelDescriptor } from '../../domain/entity.js';
import { heldKeys } from '../../domain/natural-key.js';
import { RowCodec } from '../codec/row-codec.js';
import { tableUpdates, type UpdateColumns } from '../codec/update-columns.js';
import { changedBy, type RowChange } from './folded-group.js';
import { handoverSteps } from './key-handover.js';
import { type InsertedTable, modelTable, type NumberedRow } from './statement-rows.js';

/** The change of a row, with the number of its group. */
type GroupChange = NumberedRow<RowChange>;

interface TableRows {
  readonly model: ModelDescriptor;
  readonly rows: GroupChange[];
}

/** The changes of one table by a flush. */
export interface TableChanges {
  readonly table: InsertedTable<RowChange>;
  /** Index of the table in the names of common table expressions. */
  readonly index: number;
  readonly updates: readonly GroupChange[];
  readonly adds: readonly GroupChange[];
  readonly expects: readonly GroupChange[];
  /** The columns that its updates set. Absent: it updates no row. */
  readonly sets?: UpdateColumns | undefined;
  /** Present if natural keys move between rows. Absent: all rows are written at once. */
  readonly steps?: KeySteps | undefined;
}

/** Updates in consecutive steps; inserts come last. */
export interface KeySteps {
  readonly count: number;
  /** From 0. */
  readonly of: (update: RowChange) => number;
}

/** Whether the flush leaves out a group because of a row of this table. */
export function isGuarded({ sets, expects }: TableChanges): boolean {
  return sets !== undefined || expects.length > 0;
}

/**
 * The changes of groups by table, sorted by name, so that every process locks tables in the same order.
 *
 * @param groups the changes of each group, one per row
 */
export function changesByTable(groups: readonly (readonly RowChange[])[]): readonly TableChanges[] {
  const [[row, ...others] = []] = groups;
  if (row !== undefined && others.length === 0 && groups.length === 1)
    return [changesOf({ model: row.descriptor, rows: [{ number: 1, row }] }, 0)];
  const tables = new Map<string, TableRows>();
  groups.forEach((changes, index) => {
    for (const row of changes) {
      const { descriptor: model } = row;
      const table = tables.get(model.table) ?? { model, rows: [] };
      tables.set(model.table, table);
      table.rows.push({ number: index + 1, row });
    }
  });
  const sorted = [...tables.values()].sort((a, b) => (a.model.table < b.model.table ? -1 : 1));
  return sorted.map(changesOf);
}

function changesOf({ model, rows }: TableRows, index: number): TableChanges {
  const ofKind = (kind: RowChange['kind']): GroupChange[] => rows.filter(({ row }) => row.kind === kind);
  const [updates, adds, expects] = [ofKind('update'), ofKind('add'), ofKind('expect')];
  const isKeyed = model.keys !== undefined;
  return {
    table: modelTable(RowCodec.of(model)),
    index,
    updates,
    expects,
    adds: isKeyed ? sortedByKeys(adds) : adds,
    sets: updates.length === 0 ? undefined : tableUpdates(model).of(updates.map(({ row }) => changedBy(row))),
    steps: isKeyed && updates.length > 0 ? keySteps([...updates, ...adds]) : undefined,
  };
}

/** Processes that insert the same keys must use the same order to avoid deadlocks. */
function sortedByKeys(adds: readonly GroupChange[]): readonly GroupChange[] {
  if (adds.length < 2) return adds;
  const keyed = adds.map((add) => ({ add, keys: heldKeys(add.row.model).join() }));
  keyed.sort((a, b) => Number(a.keys > b.keys) - Number(a.keys < b.keys));
  return keyed.map(({ add }) => add);
}

/** A unique index is checked row by row. */
function keySteps(changes: readonly GroupChange[]): KeySteps | undefined {
  const steps = handoverSteps(changes.map(({ row }) => row));
  if (steps === undefined || steps.size === 0) return undefined;
  const of = (change: RowChange): number => steps.get(change) ?? 0;
  return { count: Math.max(...changes.map(({ row }) => (row.kind === 'update' ? of(row) : 0))) + 1, of };
}
