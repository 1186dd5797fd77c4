import { Action } from '../../action/action.js';
import type { ActionDescriptor } from '../../action/action-descriptor.js';
import type { ActionPlan } from '../../action/action-plan.js';
import type { FwScheduleOptions } from '../../action/markers.js';
import { systemClock } from '../../domain/clock.js';
import { Decimal } from '../../domain/decimal.js';
import type { Principal } from '../../domain/principal.js';
import type { AccountRepository } from '../../execution/test-support/accounts.js';

/** Due on each New Year: no due time comes to pass by itself while a test runs. */
export const YEARLY: FwScheduleOptions = { cron: '0 0 1 1 *' };

/** Params of a run on each shard. */
export interface Place {
  readonly group?: number;
  readonly member?: number;
}

type Work = (plan: ActionPlan, params: Place) => Promise<void> | void;

/** The action of `recurring`. */
export class TickAction extends Action<Place, void> {
  readonly #work: Work;

  constructor(work: Work) {
    super(systemClock);
    this.#work = work;
  }

  protected perform(_principal: Principal, params: Place): Promise<void> | void {
    return this.#work(this.plan(), params);
  }
}

/** A recurring action `Tick`. @param schedule undefined: it does not recur */
export function recurring(schedule: FwScheduleOptions | undefined, work: Work): ActionDescriptor {
  return {
    name: 'Tick',
    actionClass: TickAction,
    params: [
      { name: 'group', type: { kind: 'number' }, optional: true },
      { name: 'member', type: { kind: 'number' }, optional: true },
    ],
    create: () => new TickAction(work),
    ...(schedule === undefined ? {} : { schedule }),
  };
}

/** A `Tick` that credits an account for each minute. */
export function ticking(accounts: AccountRepository, account: string): ActionDescriptor {
  return recurring({ cron: '* * * * *', missed: 'each' }, async (plan) => {
    plan.update((await accounts.getById(account)).credit(new Decimal(1)));
  });
}
