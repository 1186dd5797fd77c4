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
export class WriterCounters implements WriterCounts {
  statements = 0;
  plans = 0;
  folded = 0;
  splits = 0;

  /** @param sign -1 for groups that were counted as sent but were not sent */
  sent(groups: readonly PlanGroup[], sign: 1 | -1 = 1): void {
    const plans = plansIn(groups);
    this.statements += sign;
    this.plans += sign * plans;
    this.folded += sign * (plans - groups.length);
  }
}
