import { type PlanGroup, plansIn } from './plan-group.js';

/** Counts of one shard's writer since its creation. */
export interface WriterCounts {
  /** Statements that wrote plans. */
  readonly statements: number;
  /** Plans that were sent. */
  readonly plans: number;
  /** Plans that were written together with a plan that they depend on. */
  readonly folded: number;
  /** Statements that failed as a whole and were split. */
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

  /** Corrects the counts for groups that were counted as sent but were not sent. */
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
