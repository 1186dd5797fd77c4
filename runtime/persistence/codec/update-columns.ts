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
 * one text for all columns that any update has set so far; columns that not every update sets have a flag per row.
 */
export class TableUpdates {
  readonly #codec: RowCodec;
  readonly #plain = new Map<string, UpdateColumns>();
  #mixed: UpdateColumns;

  constructor(codec: RowCodec) {
    this.#codec = codec;
    this.#mixed = { key: '~', columns: [] };
  }

  /** The columns for rows that all set the same ones. Undefined if this set has no text of its own. */
  plain(set: ColumnSet): UpdateColumns | undefined {
    const found = this.#plain.get(set.key);
    if (found !== undefined || this.#plain.size >= MAXIMUM_SETS) return found;
    const columns = this.#columnsAt(set.positions, () => false);
    const made = { key: set.key, columns };
    this.#plain.set(set.key, made);
    return made;
  }

  /** The columns for rows that may set different ones. @param sets one per row */
  of(sets: readonly ColumnSet[]): UpdateColumns {
    const [first] = sets;
    const isOne = first !== undefined && sets.every(({ key }) => key === first.key);
    const plain = isOne ? this.plain(first) : undefined;
    if (plain !== undefined) return plain;
    for (const set of new Set(sets)) this.#admit(set);
    return this.#mixed;
  }

  /**
   * Adds columns or marks them as flagged, never the reverse, so a model has at most twice as many texts as columns.
   */
  #admit({ positions }: ColumnSet): void {
    const { columns } = this.#mixed;
    const own = new Set(positions);
    const before = new Map(columns.map(({ position, isFlagged }) => [position, isFlagged]));
    const isFlagged = (position: number): boolean =>
      columns.length > 0 && (before.get(position) ?? true) ? true : !own.has(position);
    const all = new Set([...before.keys(), ...positions]);
    const admitted = this.#columnsAt(
      [...all].sort((a, b) => a - b),
      isFlagged,
    );
    const key = `~${admitted.map(({ position, isFlagged: flagged }) => `${position}${flagged ? '?' : ''}`).join(',')}`;
    if (key !== this.#mixed.key) this.#mixed = { key, columns: admitted };
  }

  #columnsAt(
    positions: readonly number[],
    isFlagged: (position: number) => boolean,
  ): readonly UpdateColumn[] {
    return positions.flatMap((position) => {
      const column = this.#codec.columns[position];
      return column === undefined ? [] : [{ column, position, isFlagged: isFlagged(position) }];
    });
  }
}
