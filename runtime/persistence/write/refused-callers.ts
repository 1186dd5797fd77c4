import { DriverFailure } from '../../sharding/driver-failure.js';
import { sqlStateMeaning } from '../../sharding/sql-state.js';
import type { PlanWrite } from './plan-write.js';
import { violationOf } from './read-row-check.js';

/** What a refused plan adds to the score of its caller; an applied one takes 1 away. */
const REFUSED_SCORE = 8;
/** From this score on, the plans of a caller are sent one by one. */
const ALONE_FROM = 16;
const HIGHEST_SCORE = 32;
/** Most callers that are remembered. */
const MAXIMUM_CALLERS = 256;

/**
 * Knows the callers whose plans only the server can refuse: by a trigger, a value that does not fit its column, a
 * constraint that a statement cannot evaluate. Each such plan fails the statement that it travels in, and finding it
 * takes several more. A caller of whose plans more than one in nine ends so sends alone: that costs a statement each,
 * and the statements of all others stay whole. Callers with one name, such as anonymous ones, count as one: their name
 * is all that a plan carries of them, and behind a proxy they share their address as well.
 */
export class RefusedCallers {
  /** By action and principal, the one that was refused last at the end. */
  readonly #scores = new Map<string, number>();

  isAlone(plan: PlanWrite): boolean {
    return this.#scores.size > 0 && (this.#scores.get(callerOf(plan)) ?? 0) >= ALONE_FROM;
  }

  /** This plan was refused by itself. */
  refused(plan: PlanWrite, error: unknown): void {
    if (!isAboutPlan(error)) return;
    const caller = callerOf(plan);
    const score = Math.min((this.#scores.get(caller) ?? 0) + REFUSED_SCORE, HIGHEST_SCORE);
    this.#scores.delete(caller);
    this.#scores.set(caller, score);
    const [oldest] = this.#scores.keys();
    if (this.#scores.size > MAXIMUM_CALLERS && oldest !== undefined) this.#scores.delete(oldest);
  }

  applied(plan: PlanWrite): void {
    if (this.#scores.size === 0) return;
    const caller = callerOf(plan);
    const score = this.#scores.get(caller) ?? 0;
    if (score > 1) this.#scores.set(caller, score - 1);
    else this.#scores.delete(caller);
  }
}

/** Constraints that statements learn to evaluate do not count, nor does what another attempt may not meet. */
function isAboutPlan(error: unknown): boolean {
  if (!(error instanceof DriverFailure)) return true;
  if (error.sqlState === undefined || violationOf(error) !== undefined) return false;
  const meaning = sqlStateMeaning(error.sqlState);
  return meaning !== 'transient' && meaning !== 'locked';
}

function callerOf({ action }: PlanWrite): string {
  return `${action.name} ${action.principal}`;
}
