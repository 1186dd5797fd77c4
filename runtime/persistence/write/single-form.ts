import { RowCodec } from '../codec/row-codec.js';
import { tableKey } from '../codec/table-key.js';
import { tableUpdates, type UpdateColumns } from '../codec/update-columns.js';
import type { FlushRecords } from './flush-records.js';
import { changedBy, type RowChange } from './folded-group.js';
import type { ActionRow } from './plan-write.js';
import { cte, type StatementBuilder } from './statement-builder.js';
import { ALL_APPLIED, StatementForm, where } from './statement-form.js';
import {
  type BoundRows,
  type Cell,
  CHECK,
  insertText,
  modelTable,
  type NumberedRow,
} from './statement-rows.js';

/** Changes of which a statement has at most one of each kind. */
export interface SingleChanges {
  /** The row whose version is checked. */
  readonly checked: RowChange | undefined;
  /** What is set of that row. Undefined: it is only expected. */
  readonly sets: UpdateColumns | undefined;
  readonly add: RowChange | undefined;
}

/** @param changes of a plan, one per row @returns undefined if the plan needs the merged form */
export function asSingle(changes: readonly RowChange[]): SingleChanges | undefined {
  if (changes.length > 2) return undefined;
  const [checked, otherChecked] = changes.filter(({ kind }) => kind !== 'add');
  const [add, otherAdd] = changes.filter(({ kind }) => kind === 'add');
  if (otherChecked !== undefined || otherAdd !== undefined) return undefined;
  // A key may go from one row of a table to the other.
  if (checked?.heldBefore !== undefined && checked.descriptor.table === add?.descriptor.table)
    return undefined;
  if (checked?.kind !== 'update') return { checked, sets: undefined, add };
  const sets = tableUpdates(checked.descriptor).plain(changedBy(checked));
  return sets === undefined ? undefined : { checked, sets, add };
}

/** A plan that has a statement for itself. */
export interface SingleFlush {
  readonly namespace: string;
  readonly action: ActionRow;
  readonly changes: SingleChanges;
  /** At most one row for each table. */
  readonly records: FlushRecords;
  readonly skipLocked: boolean;
}

const LOCKED = cte('l');
const APPLIED = `EXISTS (SELECT FROM ${LOCKED})`;

/**
 * The form for a single plan: without arrays, which costs the server two thirds of the merged form. In order of
 * dependence:
 *
 * 1. `l`: the row whose version is checked, locked, if it has that version. Nothing is written without it.
 * 2. `act`, `u`, `i`, `ev`, `k`, `sc`, `j`, `x`: the row of the action, the update, the insert, the records. The row of
 *    an action that was fenced is a unique violation, and so is a key that is taken.
 */
export class SingleForm extends StatementForm {
  readonly #flush: SingleFlush;
  readonly #namespace: number;
  readonly #action: BoundRows;

  constructor(builder: StatementBuilder, flush: SingleFlush) {
    super(builder, [flush.action]);
    builder.dependOn('single');
    this.#flush = flush;
    this.#namespace = builder.bind(flush.namespace);
    this.#action = this.bind('a', this.actionTable.cells, [{ number: 1, row: flush.action }]);
  }

  write(): void {
    const { changes, records } = this.#flush;
    const { checked, sets, add } = changes;
    if (checked !== undefined) this.#check(checked, sets);
    this.builder.with(
      'act',
      () => `${cte('act')} AS (${insertText(this.actionTable, this.#action)}${where(this.isApplied())})`,
    );
    if (add !== undefined) {
      this.builder.dependOn(tableKey(add.descriptor));
      this.insert('i', modelTable(RowCodec.of(add.descriptor)), [{ number: 1, row: add }]);
    }
    this.writeRecords(records);
    this.builder.query(() => {
      const all = `'${ALL_APPLIED}'`;
      return `SELECT ${checked === undefined ? all : `CASE WHEN ${APPLIED} THEN ${all} ELSE '' END`} AS applied`;
    });
  }

  /** Locks the row whose version is checked, and updates it if it is not only expected. */
  #check(checked: RowChange, sets: UpdateColumns | undefined): void {
    const { skipLocked } = this.#flush;
    const { name, cells, columns } = modelTable(RowCodec.of(checked.descriptor));
    const positions = sets?.columns.map(({ position }) => position) ?? [];
    const row = this.bind('t', CHECK.concat(positions.flatMap((position) => cells[position] ?? [])), [
      { number: 1, row: checked },
    ]);
    const isRow = (): string => `t.id = ${row.cell('id')} AND t.version = ${row.cell('expected')}`;
    this.builder.with(`l${tableKey(checked.descriptor)}${skipLocked ? 's' : ''}`, () => {
      const lock = `FOR NO KEY UPDATE OF t${skipLocked ? ' SKIP LOCKED' : ''}`;
      return `${LOCKED} AS MATERIALIZED (SELECT FROM ${name} AS t WHERE ${isRow()} ${lock})`;
    });
    if (sets === undefined) return;
    this.builder.with(`u${sets.key}`, () => {
      const assignments = positions.map(
        (position) => `${columns[position]?.name} = ${row.cell(`c${position}`)}`,
      );
      return `${cte('u')} AS (UPDATE ${name} AS t SET ${assignments.join(', ')} WHERE ${isRow()} AND ${APPLIED})`;
    });
  }

  protected bind<R>(_: string, cells: readonly Cell<R>[], [first]: readonly NumberedRow<R>[]): BoundRows {
    let number = 0;
    for (const { one } of cells) number = this.builder.bind(first === undefined ? null : one(first.row));
    const from = number - cells.length + 1;
    return {
      cell: (name) => {
        const index = cells.findIndex((cell) => cell.name === name);
        return `$${from + index}::${cells[index]?.type}`;
      },
      action: (column) => (column === 'namespace' ? `$${this.#namespace}::text` : this.#action.cell(column)),
      from: () => '',
    };
  }

  protected isApplied(): string | undefined {
    return this.#flush.changes.checked === undefined ? undefined : APPLIED;
  }
}
