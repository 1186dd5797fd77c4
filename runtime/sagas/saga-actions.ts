import { Action } from '../action/action.js';
import type { ActionDescriptor } from '../action/action-descriptor.js';
import type { FieldDescriptor } from '../domain/descriptor.js';
import type { ShardedId } from '../domain/id.js';
import type { Model } from '../domain/model.js';
import type { Principal } from '../domain/principal.js';
import { UnknownActionError } from '../errors.js';
import { OverdueAction } from './overdue-action.js';
import type { SagaDefinition } from './saga-definition.js';
import { termsOf } from './saga-run.js';
import { type AnyStep, limitOf, type SagaFailure } from './saga-step.js';
import { hasMoved, scheduleOverdue, stageMove, stageRun } from './stage-saga.js';
import { outcomeOfRecord, type SagaKit, type StepOutcome } from './step-action.js';
import { type StepPlace, StepRecord } from './step-record.js';

/** Finds the definition of a saga by its current or a former name. */
export type FindDefinition = (name: string) => SagaDefinition;

/** Names of actions that others refer to: the one that carries the failure of a step, and those that operators order. */
export const MOVE = 'Saga.move';
export const RETRY = 'Saga.retry';
export const ABANDON = 'Saga.abandon';

abstract class SagaAction<Params, Result> extends Action<Params, Result> {
  protected readonly kit: SagaKit;
  protected readonly find: FindDefinition;

  constructor(kit: SagaKit, find: FindDefinition) {
    super(kit.clock);
    this.kit = kit;
    this.find = find;
  }
}

interface MoveParams {
  readonly saga: string;
  readonly stepNumber: number;
  readonly failure?: SagaFailure;
}

/**
 * Moves a saga on when its step is settled on another shard, or has failed; parks it for an operator after the failure of
 * a step that can only succeed. No effect if the saga has already moved on.
 */
export class MoveAction extends SagaAction<MoveParams, void> {
  protected async perform(_principal: Principal, { saga, stepNumber, failure }: MoveParams): Promise<void> {
    const run = await this.kit.runs.getById(saga);
    if (run.state === 'ENDED' || run.stepNumber !== stepNumber) return;
    const definition = this.find(run.saga);
    const state = await definition.states.getById(saga);
    const step = definition.step(run.step);
    if (step !== undefined && hasMoved(step, run, state))
      return stageRun(this.plan(), definition.saga, { run, to: state, failure: undefined });
    if (step?.action !== undefined && step.refused === undefined && failure !== undefined) {
      if (run.state === 'RUNNING') this.plan().update(run.parked(failure));
      return;
    }
    const to = nextState(step, state, failure);
    // A release in which this state has the step started it; a process of that release will retry it.
    if (to === undefined) throw new TypeError(`${run.saga} has no such transition from state ${run.step}`);
    stageMove(this.plan(), definition.saga, { run, from: state, to, failure });
  }
}

/** The state that follows; undefined if this release has no such transition. */
function nextState(
  step: AnyStep<Model> | undefined,
  state: Model,
  failure: SagaFailure | undefined,
): Model | undefined {
  if (step === undefined) return undefined;
  if (step.action === undefined) return failure && step.expired(state, failure);
  return failure === undefined ? step.done(state) : step.refused?.(state, failure);
}

interface GiveUpParams extends StepPlace {
  readonly record: ShardedId<StepRecord>;
  readonly failure: SagaFailure;
}

/**
 * Abandons a step on the shard that it writes to: its action cannot take effect there afterwards, even if a process
 * that was believed dead still runs it. Returns the actual outcome of the step.
 */
export class GiveUpAction extends SagaAction<GiveUpParams, StepOutcome> {
  protected async perform(
    _principal: Principal,
    { record: id, failure, ...place }: GiveUpParams,
  ): Promise<StepOutcome> {
    const known = await this.kit.records.findById(id);
    if (known !== undefined) return outcomeOfRecord(known);
    return outcomeOfRecord(this.plan().add(StepRecord.of(id, place, this.clock.now(), failure)));
  }
}

interface RetryParams {
  readonly saga: string;
  /** The saga is being attempted, and only gets more time. */
  readonly attempted?: boolean;
}

/**
 * Retries a parked or overdue saga with the full time limit of its step. False for any other saga. Fails in a process
 * that does not know the step, so that the scheduled form is attempted again, in a process of another release.
 */
export class RetryAction extends SagaAction<RetryParams, boolean> {
  protected async perform(_principal: Principal, { saga, attempted }: RetryParams): Promise<boolean> {
    const run = await this.kit.runs.getById(saga);
    const definition = this.find(run.saga);
    const step = definition.step(run.step);
    if (step === undefined && run.state !== 'ENDED') {
      throw new UnknownActionError(
        `This process does not know the step ${run.step} of ${run.saga}: retry it in a process of the release that does`,
      );
    }
    if (step === undefined || !(run.state === 'PARKED' || (await this.kit.runs.isOver(run)))) return false;
    const now = this.clock.now();
    const terms = termsOf(run.step, limitOf(step, await definition.states.getById(saga)), now);
    scheduleOverdue(this.plan(), this.plan().update(run.woken(attempted ? undefined : 'retry', terms)));
    return true;
  }
}

interface AbandonParams {
  readonly saga: string;
  readonly note: string;
}

/** Ends a saga in its current state, without a further step. False if it has already ended. */
export class AbandonAction extends SagaAction<AbandonParams, boolean> {
  protected async perform(_principal: Principal, { saga, note }: AbandonParams): Promise<boolean> {
    const run = await this.kit.runs.getById(saga);
    if (run.state === 'ENDED') return false;
    this.plan().update(run.abandoned({ code: 'ABANDONED', message: note }));
    return true;
  }
}

const SAGA: FieldDescriptor = { name: 'saga', type: { kind: 'uuid' } };
const STEP_NUMBER: FieldDescriptor = { name: 'stepNumber', type: { kind: 'number' } };
const FAILURE: FieldDescriptor = {
  name: 'failure',
  optional: true,
  type: {
    kind: 'object',
    fields: [
      { name: 'code', type: { kind: 'string' } },
      { name: 'message', type: { kind: 'string' } },
    ],
  },
};

/** The actions that all sagas share. */
export function sharedActions(
  kit: SagaKit,
  find: FindDefinition,
): readonly ActionDescriptor<never, unknown>[] {
  const outcome = [SAGA, STEP_NUMBER, FAILURE];
  const actions = [
    [MOVE, MoveAction, outcome],
    ['Saga.giveUp', GiveUpAction, outcome],
    ['Saga.overdue', OverdueAction, [SAGA, STEP_NUMBER]],
    [RETRY, RetryAction, [SAGA, { name: 'attempted', optional: true, type: { kind: 'boolean' } }]],
    [ABANDON, AbandonAction, [SAGA, { name: 'note', type: { kind: 'string' } }]],
  ] as const;
  return actions.map(([name, actionClass, params]) => ({
    ...{ name, actionClass, params },
    result: { kind: 'opaque' },
    create: () => new actionClass(kit, find),
  }));
}
