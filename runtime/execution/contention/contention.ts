import type { StagedItem } from '../../action/action-plan.js';
import { rowKey, rowOf } from '../../domain/entity.js';
import { Id } from '../../domain/id.js';
import type { Standoffs } from './standoffs.js';
import type { Turns } from './turns.js';

export interface ContentionOptions {
  readonly turns: Turns;
  readonly standoffs: Standoffs;
  /** Params of the action: the ids among them are what it will probably touch. */
  readonly params: unknown;
  /** Whether staged states of others may be read. */
  readonly chaining: boolean;
}

const NOTHING: readonly string[] = Object.freeze([]);

/**
 * What one execution knows of others that want its rows (`model/id`), and how it keeps out of their way: with those of
 * this process it takes turns, and to those of another process it leaves the rows for a while.
 */
export class Contention {
  readonly #options: ContentionOptions;
  /** Rows to take turns at. */
  #contended: readonly string[] = NOTHING;
  /** Rows that were lost to another process. */
  #lost: readonly string[] = NOTHING;
  /** Whether the attempt tries rows that others of this process wait for. */
  #isScout = false;

  constructor(options: ContentionOptions) {
    this.#options = options;
  }

  /** Executions of this process have moved on from what was read. */
  outrun(items: readonly StagedItem[]): void {
    this.#takeTurnsAt(guardedRows(items));
  }

  /**
   * One of these rows had another version than expected.
   *
   * @returns how long they are left alone, in milliseconds: the next `enter` waits for that; 0 if they are not
   */
  stale(rows: readonly string[]): number {
    const { chaining, standoffs } = this.#options;
    if (chaining) {
      this.#lost = rows;
      return standoffs.lost(rows, this.#isScout);
    }
    // All who start from one state but one are stale: the next time they take turns.
    this.#takeTurnsAt(rows);
    return 0;
  }

  /** What it had rested on was stale, or the rows are being left alone. */
  held(rows: readonly string[]): void {
    this.#lost = rows;
  }

  /** Whether the rows of these are to be left alone now. */
  isHeld(items: readonly StagedItem[]): boolean {
    const { chaining, standoffs } = this.#options;
    if (!chaining || this.#isScout || standoffs.size === 0) return false;
    return standoffs.obstacle(guardedRows(items)) !== undefined;
  }

  /**
   * The plan was applied.
   *
   * @param contended another process had locked one of the rows
   */
  won(items: readonly StagedItem[], contended: boolean): void {
    const { chaining, standoffs } = this.#options;
    if (!chaining) return;
    if (standoffs.size > 0) standoffs.won(guardedRows(items));
    if (contended && !this.#isScout) standoffs.yield(guardedRows(items));
  }

  /** An attempt that tries rows for others waits for their locks, so that it is heard. */
  get isScout(): boolean {
    return this.#isScout;
  }

  /** Begins an attempt. @returns whether there may be somebody to wait for: then it has to `enter` */
  begin(): boolean {
    this.#isScout = false;
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

  /** Of those who wait for lost rows, one goes first. */
  async #pass(wait: (others: Promise<void>) => Promise<void>): Promise<() => void> {
    const { standoffs } = this.#options;
    const rows = this.#lost;
    this.#lost = NOTHING;
    for (;;) {
      const obstacle = standoffs.obstacle(rows);
      if (obstacle === undefined) break;
      await wait(obstacle);
    }
    const answered = standoffs.scout(rows);
    this.#isScout = answered !== undefined;
    return answered ?? (() => {});
  }
}

/** What an execution tells those that wait for it. Calls may be repeated. */
export interface Admission {
  /** Those of this process may go on from what it has staged, or from what it has stored. */
  sealed(): void;
  /** Its attempt has ended. */
  answered(): void;
}

/** `model/id` of the rows whose version a plan depends on. */
export function guardedRows(items: readonly StagedItem[]): readonly string[] {
  const guarded = items.filter(({ kind }) => kind !== 'add');
  return guarded.map(({ model }) => rowOf(model));
}

function idRows(params: unknown): readonly string[] {
  if (typeof params !== 'object' || params === null) return NOTHING;
  const ids = Object.values(params).filter((value) => value instanceof Id);
  return ids.map((id) => rowKey(id.modelName, id.getValue()));
}
