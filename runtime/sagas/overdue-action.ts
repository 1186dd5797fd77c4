import { Action } from '../action/action.js';
import type { Clock } from '../domain/clock.js';
import type { Principal } from '../domain/principal.js';
import type { SagaRunRepository } from './saga-run-repository.js';

export interface OverdueParams {
  readonly saga: string;
  readonly stepNumber: number;
  /** The deadline at which it runs. A requested retry of the step sets a new one. */
  readonly deadline: Date;
}

/** Scheduled for the deadline of each step: notifies the saga's handler if the step is still unfinished. */
export class OverdueAction extends Action<OverdueParams, void> {
  readonly #runs: SagaRunRepository;

  constructor(clock: Clock, runs: SagaRunRepository) {
    super(clock);
    this.#runs = runs;
  }

  protected async perform(
    _principal: Principal,
    { saga, stepNumber, deadline }: OverdueParams,
  ): Promise<void> {
    // Retention may have deleted the record of a saga that ended long before.
    const run = await this.#runs.findById(saga);
    if (run === undefined || run.state !== 'RUNNING' || run.stepNumber !== stepNumber) return;
    if (run.deadline?.getTime() !== deadline.getTime()) return;
    this.plan().update(run.woken('overdue', run.deadline));
  }
}
