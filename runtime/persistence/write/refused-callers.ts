import { DriverFailure } from '../../sharding/driver-failure.js';
import { sqlStateMeaning } from '../../sharding/sql-state.js';
import type { PlanWrite } from './plan-write.js';

/** Points that a refused plan adds to the score of its caller. An applied plan subtracts 1. */
const REFUSED_SCORE = 8;
/** Score from which on the plans of a caller are sent one by one. */
const ALONE_FROM = 16;
const HIGHEST_SCORE = 32;
/** Maximum number of remembered callers. */
const MAXIMUM_CALLERS = 256;

/**
 * Finds callers whose plans the server often refuses: by a constraint, a trigger, a value that does not fit its column,
 * a key that is taken. Such a plan fails its whole statement, and several more statements are needed to find it. If more
 * than one in nine plans of a caller end this way, its plans are sent alone. This costs one statement per plan, and the
 * statements of other callers stay whole. Callers with the same name, such as anonymous ones, count as one, because a
 * plan contains only the name.
 */
export class RefusedCallers {
  /** By action and principal, in the order of their last refusal. */
  readonly #scores = new Map<string, number>();

  isAlone(plan: PlanWrite): boolean {
    return this.#scores.size > 0 && (this.#scores.get(callerOf(plan)) ?? 0) >= ALONE_FROM;
  }

  /** Must be called when this plan was refused alone. */
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

/** Failures that another attempt may avoid do not count. */
function isAboutPlan(error: unknown): boolean {
  if (!(error instanceof DriverFailure)) return true;
  if (error.sqlState === undefined) return false;
  const meaning = sqlStateMeaning(error.sqlState);
  return meaning !== 'transient' && meaning !== 'locked';
}

function callerOf({ action }: PlanWrite): string {
  return `${action.name} ${action.principal}`;
}
