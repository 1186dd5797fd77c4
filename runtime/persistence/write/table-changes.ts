import { heldKeys } from '../../domain/natural-key.js';
import { RowCodec } from '../codec/row-codec.js';
import { tableUpdates, type UpdateColumns } from '../codec/update-columns.js';
import { changedBy, type RowChange } from './folded-group.js';
import type { FoldingRules } from './folding-rules.js';
import { handoverSteps } from './key-handover.js';
import { type RowChecks, type StatedCheck, statedChecks } from './row-check.js';
import type { NumberedRow } from './statement-rows.js';

/** What a flush depends on besides its plans. */
export interface FlushRules {
  /** Constraints that are evaluated before anything is written. Default none. */
  readonly checks?: RowChecks | undefined;
  /** Says what the statement has to prove if it folds rows. Default: nothing. */
  readonly folding?: Pick<FoldingRules, 'shapeOf'> | undefined;
}

/** The change of a row, with the number of its group. */
type GroupChange = NumberedRow<RowChange>;

interface Collected extends Record<RowChange['kind'], GroupChange[]> {
  readonly codec: RowCodec;
}

/** What a flush does to one table. */
export interface TableChanges {
  readonly codec: RowCodec;
  readonly updates: readonly GroupChange[];
  readonly adds: readonly GroupChange[];
  readonly expects: readonly GroupChange[];
  /** What is set of the rows that it updates. Absent: it updates none. */
  readonly sets?: UpdateColumns | undefined;
  /** A group of which one of these refuses a row is left out. Absent: none is evaluated before the server does. */
  readonly checks?: readonly StatedCheck[];
  /** Nothing is applied unless the table has this shape, by which rows of it may be folded. Absent: it is not asked. */
  readonly shape?: string | undefined;
  /** Natural keys go from one row to another. Absent: all rows are written at once. */
  readonly steps?: KeySteps | undefined;
}

/** Updates that follow one another, each when the one before is done; inserts come last. */
export interface KeySteps {
  readonly count: number;
  /** From 0. */
  readonly of: (update: RowChange) => number;
}

/** Whether the flush leaves out a group because of a row of this table. */
export function isGuarded({ sets, expects, checks, shape }: TableChanges): boolean {
  return sets !== undefined || expects.length > 0 || checks !== undefined || shape !== undefined;
}

/**
 * The changes of groups by table, sorted by name: every process locks tables in one order.
 *
 * @param groups the changes of each, one per row
 * @throws FoldingOutdated if a row is folded that may not be
 */
export function changesByTable(
  groups: readonly (readonly RowChange[])[],
  rules: FlushRules,
): readonly TableChanges[] {
  const tables = new Map<string, Collected>();
  groups.forEach((changes, index) => {
    for (const change of changes) {
      const { table } = change.descriptor;
      let rows = tables.get(table);
      if (rows === undefined) {
        rows = { codec: RowCodec.of(change.descriptor), update: [], add: [], expect: [] };
        tables.set(table, rows);
      }
      rows[change.kind].push({ number: index + 1, row: change });
    }
  });
  const sorted = [...tables].sort(([a], [b]) => (a < b ? -1 : 1));
  const changes = sorted.map(([, rows]) => changesOf(rows, rules));
  return rules.checks === undefined ? changes : statedChecks(changes, rules.checks);
}

function changesOf(collected: Collected, { folding }: FlushRules): TableChanges {
  const { codec, update: updates, add: adds, expect: expects } = collected;
  const { model } = codec;
  const isFolded = updates.some(isFoldedChange) || adds.some(isFoldedChange);
  return {
    codec,
    updates,
    expects,
    adds: model.keys === undefined ? adds : sortedByKeys(adds),
    sets: updates.length === 0 ? undefined : tableUpdates(model).of(updates.map(({ row }) => changedBy(row))),
    shape: isFolded ? folding?.shapeOf(model) : undefined,
    steps: model.keys === undefined || updates.length === 0 ? undefined : keySteps([...updates, ...adds]),
  };
}

function isFoldedChange({ row }: GroupChange): boolean {
  return row.isFolded === true;
}

/** Processes that insert the same keys do so in one order, or they would wait for one another in a circle. */
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
