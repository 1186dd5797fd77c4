import type { Clock } from '../domain/clock.js';
import { type Logger, SILENT } from '../domain/logger.js';
import type { Principal } from '../domain/principal.js';
import { PlanMisuseError } from '../errors.js';
import type { ActionPlan } from './action-plan.js';

const silent = (): Logger => SILENT;

/** Runs `perform` of one attempt. For the executor and the test kit. */
export let startPerform: <Params, Result>(
  action: Action<Params, Result>,
  plan: ActionPlan,
  principal: Principal,
  params: Params,
  log?: () => Logger,
) => Promise<Result> | Result;

/**
 * A state change of one kind. `perform` reads models and stages changed copies on `plan()`; the executor persists the
 * plan afterwards. One instance serves one attempt.
 *
 * @typeParam Params the parameters
 * @typeParam Result the result of `execute`
 */
export abstract class Action<Params, Result> {
  /** Type only: lets `execute` infer params and result from the class. */
  declare protected readonly actionType?: (params: Params) => Result;

  /** The injected clock. */
  protected readonly clock: Clock;
  #plan: ActionPlan | undefined;
  #log: () => Logger = silent;

  static {
    startPerform = (action, plan, principal, params, log = silent) => {
      action.#plan = plan;
      action.#log = log;
      return action.perform(principal, params);
    };
  }

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /**
   * Phase 1: reads and stages. May run several times per execution (after a conflict), so it must have no side effects.
   * Its errors are thrown by `execute`, and then nothing is written.
   */
  protected abstract perform(principal: Principal, params: Params): Promise<Result> | Result;

  /**
   * The application's logger. Each entry has the action and, in a trace, the ids of trace and span. An attempt that runs
   * again logs again. Outside `perform` entries are discarded.
   */
  protected get log(): Logger {
    return this.#log();
  }

  /** The plan of this attempt. @throws PlanMisuseError outside `perform` */
  protected plan(): ActionPlan {
    if (this.#plan === undefined) throw new PlanMisuseError('plan() is available inside perform only');
    return this.#plan;
  }
}

/** An action class as a value, for `execute`. */
export interface ActionClass<Params, Result> {
  readonly name: string;
  readonly prototype: Action<Params, Result>;
}
