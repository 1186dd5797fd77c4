import type { StagedItem } from '../../action/action-plan.js';
import { rowKey, rowOf } from '../../domain/entity.js';
import { Id } from '../../domain/id.js';
import type { RowContention } from './row-contention.js';
import type { RowQueues } from './row-queues.js';

export interface ContentionOptions {
  readonly turns: RowQueues;
  readonly rowContention: RowContention;
  /** Params of the action: the ids in them are the rows that it will probably change. */
  readonly params: unknown;
  /** Whether the execution may read states that other executions have staged. */
  readonly chaining: boolean;
}

const NOTHING: readonly string[] = Object.freeze([]);

/**
 * Coordinates one execution with others that change the same rows (`model/id`). It takes turns with executions of this
 * process (`RowQueues`), and leaves rows to another process for a while (`RowContention`).
 *
 * | outcome of an attempt | next attempt with chaining | next attempt whose states others cannot see |
 * |---|---|---|
 * | `superseded`: this process has staged newer states | takes a turn at the rows | takes a turn at the rows |
 * | `stale`: a row had another version | waits for the rows (*) | takes a turn at the rows |
 * | `held`: the rows are left | waits for the rows (*) | waits for the rows (*) |
 * | `won`, although another process had locked a row | none; leaves the rows | none |
 *
 * (*) Takes a turn, too, where executions of this process take turns: one of those may have won.
 */
export class Contention {
  readonly #options: ContentionOptions;
  /** Rows at which the next attempt takes turns. */
  #contended: readonly string[] = NOTHING;
  /** Rows that were lost to another process. */
  #lost: readonly string[] = NOTHING;

  constructor(options: ContentionOptions) {
    this.#options = options;
  }

  superseded(items: readonly StagedItem[]): void {
    this.#takeTurnsAt(checkedRows(items));
  }

  /**
   * Reports a version conflict on these rows.
   *
   * @param wasVisible whether other executions could start from the staged states, so that another process has won
   * @returns milliseconds for which the rows are left to another process, which the next `enter` waits for; 0 if they
   *   are not
   */
  stale(rows: readonly string[], wasVisible: boolean): number {
    const { rowContention } = this.#options;
    if (wasVisible) {
      this.#lost = rows;
      return rowContention.leave(rows);
    }
    // Only one of the executions that start from one state can be applied. The others take turns next time.
    this.#takeTurnsAt(rows);
    return 0;
  }

  held(rows: readonly string[]): void {
    this.#lost = rows;
  }

  /** Whether one of these rows is currently left to another process. */
  isHeld(items: readonly StagedItem[]): boolean {
    const { chaining, rowContention } = this.#options;
    if (!chaining || rowContention.size === 0) return false;
    return rowContention.obstacle(checkedRows(items)) !== undefined;
  }

  /** Reports that the plan was applied. @param contended whether another process had locked one of the rows */
  won(items: readonly StagedItem[], contended: boolean): void {
    const { chaining, rowContention } = this.#options;
    if (chaining && contended) rowContention.leave(checkedRows(items));
  }

  /** Starts an attempt. @returns whether it may have to wait and must call `enter` */
  begin(): boolean {
    return this.#lost.length > 0 || this.#contended.length > 0 || this.#options.turns.size > 0;
  }

  /**
   * Waits until the attempt may read its rows.
   *
   * @param wait waits for others, within the limits of the execution
   * @returns a function to call when the execution has staged its changes, so that others may continue from them
   * @throws errors of `wait`
   */
  async enter(wait: (others: Promise<void>) => Promise<void>): Promise<() => void> {
    const { turns, params, rowContention } = this.#options;
    const rows = this.#lost;
    this.#lost = NOTHING;
    for (let others = rowContention.obstacle(rows); others !== undefined; ) {
      await wait(others);
      others = rowContention.obstacle(rows);
    }
    const contended = new Set(this.#contended);
    for (const row of [...rows, ...idRows(params)]) if (turns.isContended(row)) contended.add(row);
    return turns.take([...contended], wait);
  }

  #takeTurnsAt(rows: readonly string[]): void {
    this.#contended = [...new Set([...this.#contended, ...rows])];
  }
}

/** `model/id` of the rows whose version a plan depends on. */
export function checkedRows(items: readonly StagedItem[]): readonly string[] {
  const checked = items.filter(({ kind }) => kind !== 'add');
  return checked.map(({ model }) => rowOf(model));
}

function idRows(params: unknown): readonly string[] {
  if (typeof params !== 'object' || params === null) return NOTHING;
  const ids = Object.values(params).filter((value) => value instanceof Id);
  return ids.map((id) => rowKey(id.modelName, id.getValue()));
}
