import { memoize } from '../../collections/memoize.js';
import type { ColumnSet } from '../../domain/column-set.js';
import type { ModelDescriptor } from '../../domain/entity.js';
import { type CodedColumn, RowCodec } from './row-codec.js';

/** A column that a statement sets. */
export interface UpdateColumn {
  readonly column: CodedColumn;
  /** Index of the column in the model's columns. */
  readonly position: number;
  /** Whether a flag per row decides if the row's column is set or left unchanged. */
  readonly isFlagged: boolean;
}

/** The columns that one statement sets in one table. */
export interface UpdateColumns {
  /** Identifies the statement text. */
  readonly key: string;
  readonly columns: readonly UpdateColumn[];
}

/** Maximum number of column sets per model that have a statement text of their own. */
const MAXIMUM_SETS = 8;

/** The update texts of one model, shared by the whole process. */
export const tableUpdates: (model: ModelDescriptor) => TableUpdates = memoize(
  (model) => new TableUpdates(RowCodec.of(model)),
);

/**
 * Chooses a statement text for updates. Each text is prepared on each connection, so there must be few. Rows that all
 * set the same columns use a text for exactly these columns, for the first `MAXIMUM_SETS` such sets. All other rows use
 * one text for all columns that any of them has set so far, with a flag per row.
 */
export class TableUpdates {
  readonly #codec: RowCodec;
  readonly #plain = new Map<string, UpdateColumns>();
  #mixed: UpdateColumns = { key: '~', columns: [] };

  constructor(codec: RowCodec) {
    this.#codec = codec;
  }

  /** The columns for rows that may set different ones. @param sets one per row */
  of(sets: readonly ColumnSet[]): UpdateColumns {
    const [first] = sets;
    const isOne = first !== undefined && sets.every(({ key }) => key === first.key);
    return (isOne ? this.#exactly(first) : undefined) ?? this.#including(sets);
  }

  #exactly({ key, positions }: ColumnSet): UpdateColumns | undefined {
    const found = this.#plain.get(key);
    if (found !== undefined || this.#plain.size >= MAXIMUM_SETS) return found;
    const made = { key, columns: this.#columnsAt(positions, false) };
    this.#plain.set(key, made);
    return made;
  }

  #including(sets: readonly ColumnSet[]): UpdateColumns {
    const known = this.#mixed.columns.map(({ position }) => position);
    const all = new Set(known);
    for (const { positions } of sets) for (const position of positions) all.add(position);
    if (all.size > known.length) {
      const columns = this.#columnsAt(
        [...all].sort((a, b) => a - b),
        true,
      );
      this.#mixed = { key: `~${columns.map(({ position }) => position).join()}`, columns };
    }
    return this.#mixed;
  }

  /** Every update sets the version. */
  #columnsAt(positions: readonly number[], isFlagged: boolean): readonly UpdateColumn[] {
    return positions.flatMap((position) => {
      const column = this.#codec.columns[position];
      if (column === undefined) return [];
      return [{ column, position, isFlagged: isFlagged && column.descriptor.field !== 'version' }];
    });
  }
}
