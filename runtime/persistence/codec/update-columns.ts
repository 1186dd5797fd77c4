import type { ColumnSet } from '../../domain/column-set.js';
import type { ModelDescriptor } from '../../domain/entity.js';
import { type CodedColumn, RowCodec } from './row-codec.js';

/** A column that a statement sets. */
export interface UpdateColumn {
  readonly column: CodedColumn;
  /** Among the columns of the model. */
  readonly position: number;
  /** Each row says whether it is set, or left as it is. */
  readonly isFlagged: boolean;
}

/** The columns that a statement sets of the rows of one table. */
export interface UpdateColumns {
  /** One per text. */
  readonly key: string;
  readonly columns: readonly UpdateColumn[];
}

/** Sets of one model with a text of their own. */
const MAXIMUM_SETS = 8;

const known = new WeakMap<ModelDescriptor, TableUpdates>();

/** What the updates of one model set. One for the life of the process. */
export function tableUpdates(model: ModelDescriptor): TableUpdates {
  let updates = known.get(model);
  if (updates === undefined) {
    updates = new TableUpdates(RowCodec.of(model));
    known.set(model, updates);
  }
  return updates;
}

/**
 * Chooses among few statements: each of them is prepared on each connection. Where all rows set the same columns, and
 * for the first such sets, these columns and nothing else. Otherwise all columns that any of its updates has set so
 * far, those that not every update sets with a flag for each row.
 */
export class TableUpdates {
  readonly #codec: RowCodec;
  readonly #plain = new Map<string, UpdateColumns>();
  #mixed: UpdateColumns;

  constructor(codec: RowCodec) {
    this.#codec = codec;
    this.#mixed = { key: '~', columns: [] };
  }

  /** For rows that all set the same columns; undefined if there is no statement for these. */
  plain(set: ColumnSet): UpdateColumns | undefined {
    const found = this.#plain.get(set.key);
    if (found !== undefined || this.#plain.size >= MAXIMUM_SETS) return found;
    const columns = this.#columnsAt(set.positions, () => false);
    const made = { key: set.key, columns };
    this.#plain.set(set.key, made);
    return made;
  }

  /** For rows that may set different columns. @param sets one per row */
  of(sets: readonly ColumnSet[]): UpdateColumns {
    const [first] = sets;
    const isOne = first !== undefined && sets.every(({ key }) => key === first.key);
    const plain = isOne ? this.plain(first) : undefined;
    if (plain !== undefined) return plain;
    for (const set of new Set(sets)) this.#admit(set);
    return this.#mixed;
  }

  /** Columns are only ever added and flagged, so that there are at most twice as many texts as columns. */
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
