import type { ActionClass } from '../action/action.js';
import type { ActionInput } from '../action/action-input.js';
import { ExecutionConfiguration } from '../action/execution-configuration.js';
import { TransientMap } from '../collections/transient-map.js';
import { sleep, time } from '../concurrency/time.js';
import { errorFacts } from '../domain/logger.js';
import type { Model } from '../domain/model.js';
import { ownPrincipal, storedPrincipal } from '../domain/principal.js';
import { UnknownShardError } from '../errors.js';
import { OtherReleaseNeeded } from '../events/delivery/attempts.js';
import type { EventHandler } from '../events/delivery/handler-descriptor.js';
import type { EventEnvelope } from '../events/log/event-envelope.js';
import type { ActionRunner } from '../execution/action-executor.js';
import { activeSpan, during, startInner } from '../tracing.js';
import { OverdueAction } from './overdue-action.js';
import { readFailure } from './own-model.js';
import { GiveUpAction, MoveAction, RetryAction } from './saga-actions.js';
import { recordOf, type SagaDefinition } from './saga-definition.js';
import { type SagaRun, type SagaRunState, SagaWokenEvent } from './saga-run.js';
import type { SagaFailure, SagaStep, SagaWait } from './saga-step.js';
import { hasMoved, requireStep } from './stage-saga.js';
import type { RegisteredStep, SagaKit, StepOutcome } from './step-action.js';
import { failureKind, sagaFailure } from './step-failure.js';
import type { StepPlace } from './step-record.js';

/** Default maximum of a step's attempts that fail with an apparent defect. */
export const DEFAULT_MAXIMUM_ATTEMPTS = 5;

/** Time for an attempt that is in progress when the time of its step is over, in milliseconds. */
const PATIENCE_MS = 2_000;
/** Sagas whose attempts are remembered. If more fail, the times of their steps start again. */
const MOST_REMEMBERED = 10_000;

export interface SagaDriverOptions {
  readonly definition: SagaDefinition;
  /** By state. */
  readonly steps: ReadonlyMap<string, RegisteredStep>;
  readonly kit: SagaKit;
  readonly executor: ActionRunner;
}

/** A step with its saga's state and progress. */
interface DueStep<Step = SagaStep<Model>> {
  readonly run: SagaRun;
  readonly state: Model;
  readonly step: Step;
  readonly place: StepPlace;
}

type AnyDue = DueStep | DueStep<SagaWait<Model>>;

interface Attempts {
  readonly stepNumber: number;
  readonly firstMs: number;
  readonly current: Promise<unknown> | undefined;
}

/**
 * The handler of one saga: takes the step of the saga's current state. Several processes may call it at any time: each
 * action that it runs takes effect once.
 */
export class SagaDriver implements EventHandler {
  readonly #options: SagaDriverOptions;
  /** Attempts of unfinished steps, by saga. */
  #attempts = new TransientMap<Attempts>();

  constructor(options: SagaDriverOptions) {
    this.#options = options;
  }

  async handle(envelope: EventEnvelope): Promise<void> {
    const { definition } = this.#options;
    const { event } = envelope;
    // Events of other sagas arrive here too; they need no query.
    if (event instanceof SagaWokenEvent && !definition.names.includes(event.saga)) return;
    if (event instanceof SagaWokenEvent && event.reason === 'abandoned') return this.#leave(envelope);
    const due = await this.#dueStep(envelope.modelId, 'RUNNING');
    if (due === undefined) return;
    if (isWait(due)) return this.#wait(envelope, due);
    const attempts = this.#attemptsOf(due);
    // At least one attempt is made.
    const left = attempts === undefined ? 'left' : await this.#timeOf(envelope, due);
    const current = attempts?.current;
    if (left === 'over') {
      if (current === undefined || (await isPending(current))) await this.#fail(envelope, due, timedOut(due));
      else await this.handle(envelope);
    } else if (left === 'left' || current === undefined) await this.#take(envelope, due);
  }

  /** Ends a wait if an action has changed the state, which the saga then follows, or if its time is over. */
  async #wait(envelope: EventEnvelope, due: DueStep<SagaWait<Model>>): Promise<void> {
    const { run, state, step, place } = due;
    const { saga, stepNumber } = place;
    const { event } = envelope;
    const isWoken = event instanceof SagaWokenEvent;
    if (hasMoved(step, run, state)) {
      if (!isWoken && !step.for.some((each) => event instanceof each)) return;
      await this.#execute(envelope, MoveAction, { saga, stepNumber });
      // The event of the new state is the one that is being handled.
      await this.handle(envelope);
    } else if (isWoken && (await this.#options.kit.runs.isOver(run)))
      await this.#execute(envelope, MoveAction, { saga, stepNumber, failure: timedOut(due) });
    // The database's clock was set back since: looks again once the time is over.
    else if (isWoken && event.reason === 'overdue')
      await this.#execute(envelope, OverdueAction, { saga, stepNumber });
  }

  #attemptsOf({ place }: DueStep): Attempts | undefined {
    const attempts = this.#attempts.get(place.saga);
    return attempts?.stepNumber === place.stepNumber ? attempts : undefined;
  }

  /**
   * What is left of the step's time. Only time in which attempts were possible counts: if this process's first attempt
   * came late, because a transaction held back the log or the shard was out of service, the step gets its whole time
   * again. A step that can only succeed always has time left.
   */
  async #timeOf(envelope: EventEnvelope, due: DueStep): Promise<'left' | 'over' | 'extended'> {
    const { run, step, place } = due;
    const { runs } = this.#options.kit;
    if (step.refused === undefined || !(await runs.isOver(run))) return 'left';
    if (!runs.cameLate(run, this.#attemptsOf(due)?.firstMs ?? time.nowMs())) return 'over';
    await this.#execute(envelope, RetryAction, { saga: place.saga, attempted: true });
    return 'extended';
  }

  /** The step of an abandoned saga may still be in flight to another shard: after this it cannot take effect there. */
  async #leave(envelope: EventEnvelope): Promise<void> {
    const due = await this.#dueStep(envelope.modelId, 'ENDED');
    // A wait has nothing in flight.
    if (due === undefined || isWait(due)) return;
    const failure = readFailure(due.run);
    if (failure !== undefined) await this.#giveUp(envelope, due, failure);
  }

  /**
   * Undefined: the saga has left this state, has ended, or the model is no saga of this kind.
   *
   * @throws OtherReleaseNeeded if a running saga is in a step that this release does not have
   */
  async #dueStep(id: string, runState: SagaRunState): Promise<AnyDue | undefined> {
    const { definition, kit } = this.#options;
    const [run, state] = await Promise.all([kit.runs.findById(id), definition.states.findById(id)]);
    if (run === undefined || state === undefined || run.state !== runState) return undefined;
    // Several sagas may have the same class of state model.
    if (!definition.names.includes(run.saga)) return undefined;
    const step = definition.step(run.step);
    // An abandoned saga makes no further step, so it does not wait for a release that may no longer exist.
    if (step === undefined && runState === 'RUNNING') throw new OtherReleaseNeeded(lacks(run.step));
    if (step === undefined) return undefined;
    // State and run were read one after the other. If the saga has moved in between, the next attempt sees it.
    // Actions may change the state of an abandoned saga to compensate it.
    if (runState === 'RUNNING' && !hasMoved(step, run, state)) requireStep(definition.saga, run, state);
    const place = { saga: id, stepNumber: run.stepNumber, step: run.step };
    return step.action === undefined ? { run, state, step, place } : { run, state, step, place };
  }

  async #take(envelope: EventEnvelope, due: DueStep): Promise<void> {
    const outcome = await this.#attempt(envelope, due);
    if ('failed' in outcome) return this.#fail(envelope, due, outcome.failed);
    // A release in which the step can be refused has given it up; a process of that release will retry the event.
    if (outcome.kind === 'void' && due.step.refused === undefined)
      throw new TypeError(`${due.run.saga} cannot go on from the refused step ${due.run.step}`);
    await this.#settle(envelope, due, outcome);
  }

  /**
   * Makes an attempt at the step. Only a step that was attempted can be over: a saga whose event comes late, after a
   * stop of all processes or behind a long transaction, still takes its step.
   *
   * @throws errors after which a retry may succeed
   */
  async #attempt(
    envelope: EventEnvelope,
    due: DueStep,
  ): Promise<StepOutcome | { readonly failed: SagaFailure }> {
    const { saga, stepNumber } = due.place;
    const current = this.#runStep(envelope, due);
    const attempts = { stepNumber, firstMs: this.#attemptsOf(due)?.firstMs ?? time.nowMs(), current };
    if (this.#attempts.size >= MOST_REMEMBERED) this.#attempts = new TransientMap();
    this.#attempts.set(saga, attempts);
    let isFinal = true;
    try {
      return await current;
    } catch (error) {
      const { maximumAttempts = DEFAULT_MAXIMUM_ATTEMPTS } = due.step;
      const kind = failureKind(error);
      const mayPass = kind === 'passing' || (kind === 'defect' && envelope.attempt < maximumAttempts);
      // If the step cannot be given up yet, because its shard is down, it must not count as attempted late.
      isFinal = !mayPass;
      // Delivery logs what is thrown.
      if (mayPass && (await this.#timeOf(envelope, due)) !== 'over') throw error;
      // Its code says too little: it is that of a foreign error.
      if (kind === 'defect') envelope.log.error(errorFacts(error), `step ${due.place.step} has failed`);
      return { failed: mayPass ? timedOut(due) : sagaFailure(error) };
    } finally {
      if (this.#attempts.get(saga) === attempts) {
        if (isFinal) this.#attempts.delete(saga);
        else this.#attempts.set(saga, { ...attempts, current: undefined });
      }
    }
  }

  async #runStep(envelope: EventEnvelope, { state, step, place }: DueStep): Promise<StepOutcome> {
    const params = step.params(state);
    const record = recordOf(step, { state, params, place });
    const registered = this.#options.steps.get(place.step);
    // The steps were registered from the same definition.
    if (registered === undefined) throw new TypeError(`There is no action for state ${place.step}`);
    const { name } = this.#options.definition.saga;
    const attributes = { 'fw.saga': name, 'fw.saga.id': place.saga, 'fw.saga.step': place.step };
    return during(startInner(activeSpan(), `step ${name}.${place.step}`, attributes), () =>
      this.#execute(envelope, registered.actionClass, { ...place, ...(record && { record }), params }),
    );
  }

  /** Continues with the compensation, or parks the saga, after the step's action has failed for good. */
  async #fail(envelope: EventEnvelope, due: DueStep, failure: SagaFailure): Promise<void> {
    const mayFail = due.step.refused !== undefined;
    const outcome = mayFail
      ? await this.#giveUp(envelope, due, failure)
      : ({ kind: 'void', failure } as const);
    await this.#settle(envelope, due, outcome);
  }

  /**
   * A refusal concerns one attempt only. Before it is final, no other attempt may succeed any more: neither one that an
   * earlier process left behind nor one that is still in flight to the database.
   */
  async #giveUp(
    envelope: EventEnvelope,
    { state, step, place }: DueStep,
    failure: SagaFailure,
  ): Promise<StepOutcome> {
    const record = recordOf(step, { state, params: step.params(state), place });
    // On the saga's own shard both attempts would write the saga's move, so only one can be applied.
    if (record === undefined) return { kind: 'void', failure };
    try {
      return await this.#execute(envelope, GiveUpAction, { ...place, record, failure });
    } catch (error) {
      // The reason is the unknown shard, not the time-out: the step cannot have written there.
      if (error instanceof UnknownShardError) return { kind: 'void', failure: sagaFailure(error) };
      throw error;
    }
  }

  async #settle(envelope: EventEnvelope, due: DueStep, outcome: StepOutcome): Promise<void> {
    const { saga, stepNumber } = due.place;
    if (this.#attemptsOf(due) !== undefined) this.#attempts.delete(saga);
    if (outcome.kind === 'moved') return;
    const failure = outcome.kind === 'void' ? { failure: outcome.failure } : {};
    await this.#execute(envelope, MoveAction, { saga, stepNumber, ...failure });
  }

  /** Runs an action as the principal whose action brought the saga to its current state. */
  #execute<Params, Result>(
    { action, signal, traceContext }: EventEnvelope,
    actionClass: ActionClass<Params, Result>,
    params: ActionInput<NoInfer<Params>>,
  ): Promise<Result> {
    const { definition, executor } = this.#options;
    const configuration = ExecutionConfiguration.Builder.executionConfiguration().signal(signal);
    if (traceContext !== undefined) configuration.traceContext(traceContext);
    const principal =
      action === null
        ? ownPrincipal(`saga:${definition.saga.name}`)
        : storedPrincipal(action.principal, action.claims);
    return executor.execute(principal, actionClass, params, configuration.build());
  }
}

function isWait(due: AnyDue): due is DueStep<SagaWait<Model>> {
  return due.step.action === undefined;
}

function lacks(step: string): string {
  return (
    `a saga is in step ${step}, which this process does not know: a process of another release continues, ` +
    'or run fw-gen sagas abandon'
  );
}

/** Whether an attempt is still in progress after some time. */
async function isPending(outcome: Promise<unknown>): Promise<boolean> {
  const settled = outcome.then(
    () => false,
    () => false,
  );
  return Promise.race([settled, sleep(PATIENCE_MS, { ref: false }).then(() => true)]);
}

function timedOut({ run }: DueStep<unknown>): SagaFailure {
  return {
    code: 'TIMED_OUT',
    message: `${run.step} was not completed by ${run.deadline?.toISOString() ?? 'its deadline'}`,
  };
}
