import { type PlanGroup, plansIn } from './plan-group.js';

/** What a writer has done since it was made. */
export interface WriterCounts {
  readonly statements: number;
  readonly plans: number;
  readonly folded: number;
  readonly splits: number;
}

/** Counts what a writer does. */
export class WriterCounters {
  #statements = 0;
  #plans = 0;
  #folded = 0;
  #splits = 0;

  get counts(): WriterCounts {
    return {
      statements: this.#statements,
      plans: this.#plans,
      folded: this.#folded,
      splits: this.#splits,
    };
  }

  sent(groups: readonly PlanGroup[]): void {
    this.#add(groups, 1);
  }

  /** Was counted as sent, and was not after all. */
  takenBack(groups: readonly PlanGroup[]): void {
    this.#add(groups, -1);
  }

  split(): void {
    this.#splits += 1;
  }

  #add(groups: readonly PlanGroup[], sign: 1 | -1): void {
    const plans = plansIn(groups);
    this.#statements += sign;
    this.#plans += sign * plans;
    this.#folded += sign * (plans - groups.length);
  }
}
