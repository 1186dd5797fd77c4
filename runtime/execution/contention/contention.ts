import type { StagedItem } from '../../action/action-plan.js';
import { rowKey, rowOf } from '../../domain/entity.js';
import { Id } from '../../domain/id.js';
import type { RowContention } from './row-contention.js';
import type { Turns } from './turns.js';

export interface ContentionOptions {
  readonly turns: Turns;
  readonly rowContention: RowContention;
  /** Params of the action: the ids among them are what it will probably touch. */
  readonly params: unknown;
  /** Whether staged states of others may be read. */
  readonly chaining: boolean;
}

const NOTHING: readonly string[] = Object.freeze([]);

/**
 * What one execution knows of others that want its rows (`model/id`). With executions of this process it takes turns
 * (`Turns`), and to another process it leaves the rows for a while (`RowContention`).
 *
 * | what happened to an attempt | if it chains | if it does not chain |
 * |---|---|---|
 * | `superseded`: this process has moved on from what it read | the next attempt takes a turn at the rows | the same |
 * | `stale`: a row had another version | the rows are lost: it waits for them, and probes the first that is due | the
 * next attempt takes a turn at the rows |
 * | `held`: a dependency was stale, or the rows are left to another process | it waits for the rows | the same |
 * | `won`: it was applied | its rows are free again | nothing |
 * | `won`, and another process had locked a row | the rows are left to that process, unless the attempt was a probe |
 * nothing |
 */
export class Contention {
  readonly #options: ContentionOptions;
  /** Rows to take turns at. */
  #contended: readonly string[] = NOTHING;
  /** Rows that were lost to another process. */
  #lost: readonly string[] = NOTHING;
  /** Whether the attempt tries rows for which others of this process wait. */
  #isProbe = false;

  constructor(options: ContentionOptions) {
    this.#options = options;
  }

  superseded(items: readonly StagedItem[]): void {
    this.#takeTurnsAt(checkedRows(items));
  }

  /**
   * @returns how long the rows are left, in milliseconds: the next `enter` waits for that; 0 if they are not left
   */
  stale(rows: readonly string[]): number {
    const { chaining, rowContention } = this.#options;
    if (chaining) {
      this.#lost = rows;
      return rowContention.lost(rows, this.#isProbe);
    }
    // All executions that start from one state but one are stale: the next time they take turns.
    this.#takeTurnsAt(rows);
    return 0;
  }

  held(rows: readonly string[]): void {
    this.#lost = rows;
  }

  /** Whether rows of these are left to another process now. */
  isHeld(items: readonly StagedItem[]): boolean {
    const { chaining, rowContention } = this.#options;
    if (!chaining || this.#isProbe || rowContention.size === 0) return false;
    return rowContention.obstacle(checkedRows(items)) !== undefined;
  }

  /**
   * The plan was applied.
   *
   * @param contended another process had locked one of the rows
   */
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

  /** Begins an attempt. @returns whether it may have to wait: then it has to `enter` */
  begin(): boolean {
    this.#isProbe = false;
    return this.#lost.length > 0 || this.#contended.length > 0 || this.#options.turns.size > 0;
  }

  /**
   * Lets an attempt in when the rows may be read.
   *
   * @param wait waits for others, as long as the execution may @throws what it throws
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

  /** Waits until lost rows may be tried, and probes those that are due. */
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

/** Reports of an execution to its waiters. Calls may be repeated. */
export interface Admission {
  /** Other executions of this process may continue from its staged state, or from its stored state. */
  sealed(): void;
  /** Its attempt has ended. */
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
