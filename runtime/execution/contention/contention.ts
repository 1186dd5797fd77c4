import type { StagedItem } from '../../action/action-plan.js';
import { rowKey, rowOf } from '../../domain/entity.js';
import { Id } from '../../domain/id.js';
import type { RowContention } from './row-contention.js';
import type { Turns } from './turns.js';

export interface ContentionOptions {
  readonly turns: Turns;
  readonly rowContention: RowContention;
  /** Params of the action: the ids in them are the rows that it will probably change. */
  readonly params: unknown;
  /** Whether the execution may read states that other executions have staged. */
  readonly chaining: boolean;
}

const NOTHING: readonly string[] = Object.freeze([]);

/**
 * Coordinates one execution with others that change the same rows (`model/id`). It takes turns with executions of this
 * process (`Turns`), and leaves rows to another process for a while (`RowContention`).
 *
 * | outcome of an attempt | next attempt with chaining | next attempt without chaining |
 * |---|---|---|
 * | `superseded`: this process has staged newer states | takes a turn at the rows | takes a turn at the rows |
 * | `stale`: a row had another version | waits for the rows, probes due ones | takes a turn at the rows |
 * | `held`: a dependency was stale, or the rows are left | waits for the rows | waits for the rows |
 * | `won`: the plan was applied | none; the rows are free again | none |
 * | `won`, although another process had locked a row | none; leaves the rows, except after a probe | none |
 */
export class Contention {
  readonly #options: ContentionOptions;
  /** Rows at which the next attempt takes turns. */
  #contended: readonly string[] = NOTHING;
  /** Rows that were lost to another process. */
  #lost: readonly string[] = NOTHING;
  /** Whether the attempt probes rows for which other executions of this process wait. */
  #isProbe = false;

  constructor(options: ContentionOptions) {
    this.#options = options;
  }

  superseded(items: readonly StagedItem[]): void {
    this.#takeTurnsAt(checkedRows(items));
  }

  /**
   * Reports a version conflict on these rows.
   *
   * @returns milliseconds for which the rows are left to another process, which the next `enter` waits for; 0 if they
   *   are not
   */
  stale(rows: readonly string[]): number {
    const { chaining, rowContention } = this.#options;
    if (chaining) {
      this.#lost = rows;
      return rowContention.lost(rows, this.#isProbe);
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
    if (!chaining || this.#isProbe || rowContention.size === 0) return false;
    return rowContention.obstacle(checkedRows(items)) !== undefined;
  }

  /** Reports that the plan was applied. @param contended whether another process had locked one of the rows */
  won(items: readonly StagedItem[], contended: boolean): void {
    const { chaining, rowContention } = this.#options;
    if (!chaining) return;
    if (rowContention.size > 0) rowContention.applied(checkedRows(items));
    if (contended && !this.#isProbe) rowContention.yield(checkedRows(items));
  }

  /** A probe waits for locks, so that the other process notices it. */
  get isProbe(): boolean {
    return this.#isProbe;
  }

  /** Starts an attempt. @returns whether it may have to wait and must call `enter` */
  begin(): boolean {
    this.#isProbe = false;
    return this.#lost.length > 0 || this.#contended.length > 0 || this.#options.turns.size > 0;
  }

  /**
   * Waits until the attempt may read its rows.
   *
   * @param wait waits for others, within the limits of the execution
   * @throws errors of `wait`
   */
  async enter(wait: (others: Promise<void>) => Promise<void>): Promise<Admission> {
    const answered = await this.#pass(wait);
    const { turns, params } = this.#options;
    const contended = new Set(this.#contended);
    for (const row of idRows(params)) if (turns.isContended(row)) contended.add(row);
    try {
      return { sealed: await turns.take([...contended], wait), answered };
    } catch (error) {
      answered();
      throw error;
    }
  }

  #takeTurnsAt(rows: readonly string[]): void {
    this.#contended = [...new Set([...this.#contended, ...rows])];
  }

  /** Waits until contended rows may be tried, and starts a probe of those that are due. */
  async #pass(wait: (others: Promise<void>) => Promise<void>): Promise<() => void> {
    const { rowContention } = this.#options;
    const rows = this.#lost;
    this.#lost = NOTHING;
    for (;;) {
      const obstacle = rowContention.obstacle(rows);
      if (obstacle === undefined) break;
      await wait(obstacle);
    }
    const answered = rowContention.probe(rows);
    this.#isProbe = answered !== undefined;
    return answered ?? (() => {});
  }
}

/** Reports progress of an execution to the executions that wait for it. Calls may be repeated. */
export interface Admission {
  /** The execution has staged its changes: others of this process may continue from its staged or stored state. */
  sealed(): void;
  /** The attempt has ended. */
  answered(): void;
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
