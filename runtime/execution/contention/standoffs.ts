import type { ExecutionEnvironment } from '../../concurrency/execution-environment.js';

/** How long a row is left to a rival, in milliseconds. Up to half of it is left out by chance. */
const TURN_MS = 40;
/** How long until a row is tried again after somebody has tried it in vain: each try holds up whoever has the turn. */
const RETRY_MS = 12;
/** A rival is forgotten after so many milliseconds. */
const MEMORY_MS = 1_000;

interface Standoff {
  /** Until then the row is left to somebody else; on the environment's clock. */
  untilMs: number;
  /** Resolves at about that time; undefined afterwards. */
  pause: Promise<void> | undefined;
  /** Resolves when whoever tries the row has been answered. */
  scouting: Promise<void> | undefined;
}

/**
 * Rows that another process changes as well. Two processes that both went on would undo each other's work, as only one
 * of two chains on a row can be applied. So they take turns that are long in comparison with the work that a change of
 * turns costs:
 *
 * - Who has lost a row leaves it to the winner for a turn. Then a single execution tries it, and the others follow when
 *   that one has been successful; if it has not, the row is soon tried again. Whoever tries waits for the row's lock:
 *   that is its knock.
 * - Who finds the row locked, and yet gets its chain applied, has heard the knock, and leaves the row to the other one
 *   for a turn.
 */
export class Standoffs {
  readonly #environment: ExecutionEnvironment;
  readonly #rows = new Map<string, Standoff>();

  constructor(environment: ExecutionEnvironment) {
    this.#environment = environment;
  }

  /** Rows that were lost or given up and have not been won again. */
  get size(): number {
    return this.#rows.size;
  }

  /**
   * Somebody else was quicker at these rows (`model/id`): each is left alone for a while.
   *
   * @param tried they had been left alone before, and were tried again in vain @returns for how long, in milliseconds
   */
  lost(rows: readonly string[], tried: boolean): number {
    return this.#leave(rows, tried ? RETRY_MS : TURN_MS);
  }

  /** Somebody else wants these rows: each is left to them for a while. */
  yield(rows: readonly string[]): void {
    this.#leave(rows, TURN_MS);
  }

  /** A change of these rows was applied: nobody is in the way, unless they are being left to somebody right now. */
  won(rows: readonly string[]): void {
    for (const row of rows) {
      const standoff = this.#rows.get(row);
      if (standoff !== undefined && standoff.pause === undefined) this.#rows.delete(row);
    }
  }

  /** What has to be waited for before these rows are tried; undefined if nothing has. */
  obstacle(rows: readonly string[]): Promise<void> | undefined {
    for (const row of rows) {
      const standoff = this.#rows.get(row);
      const obstacle = standoff?.pause ?? standoff?.scouting;
      if (obstacle !== undefined) return obstacle;
    }
    return undefined;
  }

  /**
   * The caller tries these rows, on which there is no obstacle, before anybody else does.
   *
   * @returns to be called when it has been answered; undefined if nobody is in the way of these rows
   */
  scout(rows: readonly string[]): (() => void) | undefined {
    const standoffs = rows.map((row) => this.#rows.get(row)).filter((standoff) => standoff !== undefined);
    if (standoffs.length === 0) return undefined;
    let done = (): void => {};
    const scouting = new Promise<void>((resolve) => {
      done = resolve;
    });
    for (const standoff of standoffs) standoff.scouting = scouting;
    return () => {
      for (const standoff of standoffs) standoff.scouting = undefined;
      done();
    };
  }

  #leave(rows: readonly string[], mostMs: number): number {
    const nowMs = this.#environment.nowMs();
    this.#forget(nowMs);
    return Math.max(0, ...rows.map((row) => this.#leaveRow(row, mostMs, nowMs)));
  }

  /** Several executions of one chain tell of the same event. */
  #leaveRow(row: string, mostMs: number, nowMs: number): number {
    const standoff = this.#rows.get(row) ?? { untilMs: nowMs, pause: undefined, scouting: undefined };
    if (standoff.pause !== undefined) return Math.max(0, standoff.untilMs - nowMs);
    const pauseMs = mostMs * (0.5 + this.#environment.random() / 2);
    standoff.untilMs = nowMs + pauseMs;
    standoff.pause = this.#environment.sleep(pauseMs, undefined).then(() => {
      standoff.pause = undefined;
    });
    this.#rows.set(row, standoff);
    return pauseMs;
  }

  /** Those that somebody waits for or tries are not forgotten. */
  #forget(nowMs: number): void {
    for (const [row, { untilMs, pause, scouting }] of this.#rows) {
      const isIdle = pause === undefined && scouting === undefined;
      if (isIdle && untilMs + MEMORY_MS < nowMs) this.#rows.delete(row);
    }
  }
}
