import type { ExecutionEnvironment } from '../../concurrency/execution-environment.js';

/**
 * Maximum time for which a row is left to another process, in milliseconds. A random part of up to half is subtracted.
 */
const TURN_MS = 40;
/**
 * Time until a row is probed again after a failed probe, in milliseconds: each lock attempt delays the process that has
 * the turn.
 */
const RETRY_MS = 12;
/** A row without a request for this time is forgotten, in milliseconds. */
const MEMORY_MS = 1_000;

/**
 * - `free`: no other process is known to change the row.
 * - `left`: the row is left to another process for a turn. Executions wait for its end.
 * - `due`: the turn is over. The next execution probes the row.
 * - `probed`: one execution probes the row. Others wait for its outcome.
 * - `probed, left`: the probe has lost or given up the row, and its outcome is not reported yet.
 */
export type RowState = 'free' | 'left' | 'due' | 'probed' | 'probed, left';

interface ContendedRow {
  /** End of the turn of the other process, on the environment's clock. */
  untilMs: number;
  /** Resolves at about `untilMs`; undefined afterwards. */
  pause: Promise<void> | undefined;
  /** Resolves when the probe's outcome is reported. */
  probing: Promise<void> | undefined;
}

/**
 * Coordinates rows that another process also changes. Only one of two chains on a row can be applied, so if both
 * processes continued, each would discard the other's work. Instead they take turns, which are long compared with the
 * cost of a change:
 *
 * - A process that has lost a row leaves it to the winner for a turn. Then one execution probes the row, and the others
 *   continue when the probe was applied. The probe waits for the row's lock, and this lock attempt is the signal to the
 *   other process.
 * - A process whose chain was applied although another process had locked the row leaves the row to that process for a
 *   turn.
 *
 * | | lost, yielded | probe lost | applied | turn over | probe | probe answered |
 * |---|---|---|---|---|---|---|
 * | free | left | left | free | - | free: no probe needed | - |
 * | left | left, for the same turn | left, for the same turn | left: the plan was sent before | due | waits | - |
 * | due | left | left | free | - | probed | - |
 * | probed | probed, left | probed, left | free | - | waits | due |
 * | probed, left | the same turn | the same turn | probed, left | probed | waits | left |
 */
export class RowContention {
  readonly #environment: ExecutionEnvironment;
  readonly #rows = new Map<string, ContendedRow>();

  constructor(environment: ExecutionEnvironment) {
    this.#environment = environment;
  }

  /** Number of rows that are not free. */
  get size(): number {
    return this.#rows.size;
  }

  stateOf(row: string): RowState {
    const contended = this.#rows.get(row);
    if (contended === undefined) return 'free';
    if (contended.probing === undefined) return contended.pause === undefined ? 'due' : 'left';
    return contended.pause === undefined ? 'probed' : 'probed, left';
  }

  /**
   * Reports that another process has changed these rows (`model/id`) first.
   *
   * @param byProbe whether an execution had probed them
   * @returns for how long they are left, in milliseconds
   */
  lost(rows: readonly string[], byProbe: boolean): number {
    return this.#leave(rows, byProbe ? RETRY_MS : TURN_MS);
  }

  /** Reports that another process waits for these rows. */
  yield(rows: readonly string[]): void {
    this.#leave(rows, TURN_MS);
  }

  /** Reports that a change of these rows was applied. */
  applied(rows: readonly string[]): void {
    for (const row of rows) if (this.#rows.get(row)?.pause === undefined) this.#rows.delete(row);
  }

  /** What an execution must wait for before it tries these rows; undefined if it need not wait. */
  obstacle(rows: readonly string[]): Promise<void> | undefined {
    for (const row of rows) {
      const contended = this.#rows.get(row);
      const obstacle = contended?.pause ?? contended?.probing;
      if (obstacle !== undefined) return obstacle;
    }
    return undefined;
  }

  /**
   * Starts a probe of these rows, none of which has an obstacle.
   *
   * @returns a function to call when its outcome is known; undefined if all rows are free
   */
  probe(rows: readonly string[]): (() => void) | undefined {
    const due = rows.map((row) => this.#rows.get(row)).filter((row) => row !== undefined);
    if (due.length === 0) return undefined;
    let done = (): void => {};
    const probing = new Promise<void>((resolve) => {
      done = resolve;
    });
    for (const row of due) row.probing = probing;
    return () => {
      for (const row of due) row.probing = undefined;
      done();
    };
  }

  #leave(rows: readonly string[], mostMs: number): number {
    const nowMs = this.#environment.nowMs();
    this.#forget(nowMs);
    return Math.max(0, ...rows.map((row) => this.#leaveRow(row, mostMs, nowMs)));
  }

  /** Several executions of one chain report the same conflict: only the first starts a turn. */
  #leaveRow(row: string, mostMs: number, nowMs: number): number {
    const contended = this.#rows.get(row) ?? { untilMs: nowMs, pause: undefined, probing: undefined };
    if (contended.pause !== undefined) return Math.max(0, contended.untilMs - nowMs);
    const pauseMs = mostMs * (0.5 + this.#environment.random() / 2);
    contended.untilMs = nowMs + pauseMs;
    contended.pause = this.#environment.sleep(pauseMs, undefined).then(() => {
      contended.pause = undefined;
    });
    this.#rows.set(row, contended);
    return pauseMs;
  }

  /** Removes rows that have been due for a while. */
  #forget(nowMs: number): void {
    for (const [row, { untilMs }] of this.#rows) {
      if (this.stateOf(row) === 'due' && untilMs + MEMORY_MS < nowMs) this.#rows.delete(row);
    }
  }
}
