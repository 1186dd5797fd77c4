import type { ActionPlan } from '../action/action-plan.js';
import { pendingEventsOf } from '../domain/entity.js';
import type { Model } from '../domain/model.js';
import { PlanMisuseError } from '../errors.js';
import { OverdueAction } from './overdue-action.js';
import { SagaRun, termsOf } from './saga-run.js';
import { type AnyStep, limitOf, type NamedSteps, type SagaFailure, stepOf } from './saga-step.js';

/**
 * Stages the start of a saga: its state, the record of its progress and its first time-out.
 *
 * @returns the state as it will be stored
 * @throws PlanMisuseError for a state without a step or an event
 */
export function stageStart<M extends Model>(plan: ActionPlan, saga: NamedSteps<M>, state: M): M {
  const step = stepOf(saga, state.state);
  if (step === undefined) {
    throw new PlanMisuseError(`${saga.name} cannot start in state ${state.state}, which has no step`);
  }
  requireEvent(saga, state);
  const id = state.id.getValue();
  const terms = termsOf(state.state, limitOf(step, state), plan.clock.now());
  const run = SagaRun.start(id, saga.name, state.createdDate, terms);
  const stored = plan.add(state);
  plan.add(run);
  scheduleOverdue(plan, run);
  return stored;
}

/** A saga's progress, its current state and its next one. */
export interface SagaMove<M extends Model> {
  readonly run: SagaRun;
  readonly from: M;
  readonly to: M;
  /** The failure of the step; undefined if it succeeded. */
  readonly failure: SagaFailure | undefined;
}

/**
 * Stages a saga's move to its next state, with the time-out of the step that follows.
 *
 * @throws PlanMisuseError for a move to the same state, for a move to a state with a step but without an event, and if
 *   another writer has changed the state
 */
export function stageMove<M extends Model>(
  plan: ActionPlan,
  saga: NamedSteps<M>,
  { run, from, to, failure }: SagaMove<M>,
): void {
  requireStep(saga, run, from);
  if (to.state === from.state) {
    throw new PlanMisuseError(
      `${saga.name} would repeat its step ${from.state} endlessly: choose another state`,
    );
  }
  if (stepOf(saga, to.state) !== undefined) requireEvent(saga, to);
  stageRun(plan, saga, { run, to, failure });
  plan.update(to);
}

/** Stages the progress of a saga whose state another action has changed, or is about to be changed. */
export function stageRun<M extends Model>(
  plan: ActionPlan,
  saga: NamedSteps<M>,
  { run, to, failure }: Omit<SagaMove<M>, 'from'>,
): void {
  const next = stepOf(saga, to.state);
  const limit = next === undefined ? undefined : limitOf(next, to);
  scheduleOverdue(plan, plan.update(run.moved(termsOf(to.state, limit, plan.clock.now()), failure)));
}

/** Schedules the action that notifies the saga's handler when the step's time is over, unless the saga has ended. */
export function scheduleOverdue(plan: ActionPlan, run: SagaRun): void {
  const { id, stepNumber, timeoutMs, deadline } = run;
  if (deadline === undefined) return;
  const due = timeoutMs === undefined ? deadline : { afterMs: timeoutMs };
  plan.schedule(due, OverdueAction, { saga: id.getValue(), stepNumber });
}

/** Whether an action of the application has ended a wait. */
export function hasMoved<M extends Model>(step: AnyStep<M>, run: SagaRun, { state }: M): boolean {
  return step.action === undefined && state !== run.step;
}

/** @throws PlanMisuseError if another writer has changed the state */
export function requireStep<M extends Model>(saga: NamedSteps<M>, run: SagaRun, { id, state }: M): void {
  if (state === run.step) return;
  throw new PlanMisuseError(
    `${id.getValue()} is in state ${state}, but ${saga.name} left it in ${run.step}: other actions may change its ` +
      'fields, but not its state',
  );
}

/** The next step starts when the event of its state arrives, so a state with a step needs an event. */
function requireEvent<M extends Model>(saga: NamedSteps<M>, state: M): void {
  if (pendingEventsOf(state).length > 0) return;
  throw new PlanMisuseError(
    `${saga.name} would stop in state ${state.state}: attach an event (withEvent), which starts the step`,
  );
}
