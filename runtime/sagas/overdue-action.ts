import { Action } from '../action/action.js';
import type { Clock } from '../domain/clock.js';
import type { Principal } from '../domain/principal.js';
import type { SagaRunRepository } from './saga-run-repository.js';

export interface OverdueParams {
  readonly saga: string;
  readonly stepNumber: number;
}

/** Scheduled for the deadline of each step: notifies the saga's handler if the step is still unfinished. */
export class OverdueAction extends Action<OverdueParams, void> {
  readonly #runs: SagaRunRepository;

  constructor({ clock, runs }: { readonly clock: Clock; readonly runs: SagaRunRepository }) {
    super(clock);
    this.#runs = runs;
  }

  protected async perform(_principal: Principal, { saga, stepNumber }: OverdueParams): Promise<void> {
    // Retention may have deleted the record of a saga that ended long before.
    const run = await this.#runs.findById(saga);
    if (run === undefined || run.state !== 'RUNNING' || run.stepNumber !== stepNumber) return;
    if (await this.#runs.isOver(run)) this.plan().update(run.woken('overdue', run));
    else if (run.deadline !== undefined) {
      // The database's clock was set back since this action was due, or a requested retry has set a new deadline.
      this.plan().expect(run);
      this.plan().schedule(run.deadline, OverdueAction, { saga, stepNumber });
    }
  }
}
