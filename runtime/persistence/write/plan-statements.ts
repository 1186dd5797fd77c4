import type { ModelDescriptor } from '../../domain/entity.js';
import type { Statement } from '../../sharding/shard-database.js';
import type { FlushRequest } from '../shard-store.js';
import { changedBy } from './folded-group.js';
import type { PlanWrite } from './plan-write.js';
import type { BoundCell } from './statement-builder.js';

/** Maximum number of shapes whose statements are kept. */
const MAXIMUM_SHAPES = 500;

interface PlanStatement extends Omit<Statement, 'values'> {
  /** For each parameter: the index of its row, and how the row gives its value. */
  readonly parameters: readonly { readonly row: number; readonly cell: BoundCell }[];
}

/** By shape, for the life of the process. */
const known = new Map<string, PlanStatement>();

const numbers = new WeakMap<ModelDescriptor, number>();
let lastNumber = 0;

/** What the statement text of a single plan depends on. Undefined if it depends on values as well. */
export function shapeOf(plan: PlanWrite, locked: FlushRequest['locked']): string | undefined {
  const { items, key, journal, schedules, cancelledSchedules } = plan;
  let shape: string = locked;
  for (const item of items) {
    const { kind, descriptor: model } = item;
    // Rows may have to be written in the order in which they hand natural keys over.
    if (model.keys !== undefined && items.length > 1) return undefined;
    const set = kind === 'update' ? changedBy(item) : undefined;
    shape += ` ${kind} ${numberOf(model)} ${set?.key} ${kind === 'expect' ? 0 : item.events.length}`;
  }
  shape += ` ${key !== undefined} ${journal !== undefined}`;
  return `${shape} ${schedules?.length ?? 0} ${cancelledSchedules?.length ?? 0}`;
}

function numberOf(model: ModelDescriptor): number {
  let number = numbers.get(model);
  if (number === undefined) {
    lastNumber += 1;
    number = lastNumber;
    numbers.set(model, number);
  }
  return number;
}

/** The statement for a plan of a known shape. @param rows what the plan brings, in the order of `keepStatement` */
export function knownStatement(shape: string, rows: readonly unknown[]): Statement | undefined {
  const found = known.get(shape);
  if (found === undefined) return undefined;
  const { text, name, parameters } = found;
  const values = parameters.map(({ row, cell }) => cell.one(rows[row]));
  return { text, values, ...(name === undefined ? {} : { name }) };
}

/** Keeps a statement for other plans of its shape, if the rows give all its values. */
export function keepStatement(
  shape: string,
  rows: readonly unknown[],
  { text, name, values }: Statement,
  bound: readonly { readonly row: unknown; readonly cell: BoundCell }[],
): void {
  const parameters = bound.map(({ row, cell }) => ({ row: rows.indexOf(row), cell }));
  const isWhole = parameters.length === values?.length && parameters.every(({ row }) => row >= 0);
  if (!isWhole || known.size >= MAXIMUM_SHAPES) return;
  known.set(shape, { text, parameters, ...(name === undefined ? {} : { name }) });
}
