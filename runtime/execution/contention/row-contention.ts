import type { ExecutionEnvironment } from '../../concurrency/execution-environment.js';

/**
 * Maximum time for which a row is left to another process, in milliseconds. A random part of up to half is subtracted.
 */
const TURN_MS = 40;

interface LeftRow {
  /** End of the turn of the other process, on the environment's clock. */
  readonly untilMs: number;
  readonly pause: Promise<void>;
}

/**
 * Rows that are left to another process for a while, because both change them. Only one of two chains on a row can be
 * applied, so if both processes continued, each would discard the other's work. A turn is long compared with the cost
 * of a change, and of random length:
 *
 * ```
 * process A   chain applied            | another process waits for the lock: leaves the row | chain applied
 * process B   chain stale: leaves row  | chain applied                                      | chain stale: leaves row
 * ```
 *
 * Without it, with pauses after conflicts alone, two processes complete a quarter fewer changes of one row, and some of
 * 32 concurrent ones lose all their attempts (`bench/run.js --only processes`).
 */
export class RowContention {
  readonly #environment: ExecutionEnvironment;
  readonly #left = new Map<string, LeftRow>();

  constructor(environment: ExecutionEnvironment) {
    this.#environment = environment;
  }

  /** Number of rows that are left to another process. */
  get size(): number {
    return this.#left.size;
  }

  /**
   * Leaves these rows (`model/id`) to another process. Several executions of one chain report the same conflict: only
   * the first starts a turn.
   *
   * @returns for how long they are left, in milliseconds
   */
  leave(rows: readonly string[]): number {
    const nowMs = this.#environment.nowMs();
    return Math.max(
      0,
      ...rows.map((row) => (this.#left.get(row) ?? this.#start(row, nowMs)).untilMs - nowMs),
    );
  }

  /** What an execution must wait for before it tries these rows; undefined if it need not wait. */
  obstacle(rows: readonly string[]): Promise<void> | undefined {
    for (const row of rows) {
      const left = this.#left.get(row);
      if (left !== undefined) return left.pause;
    }
    return undefined;
  }

  #start(row: string, nowMs: number): LeftRow {
    const pauseMs = TURN_MS * (0.5 + this.#environment.random() / 2);
    const pause = this.#environment.sleep(pauseMs, undefined).then(() => void this.#left.delete(row));
    const left = { untilMs: nowMs + pauseMs, pause };
    this.#left.set(row, left);
    return left;
  }
}
