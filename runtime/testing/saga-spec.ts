import type { ActionClass } from '../action/action.js';
import type { ActionInput } from '../action/action-input.js';
import type { ExecutionConfiguration } from '../action/execution-configuration.js';
import type { Entity } from '../domain/entity.js';
import type { Model } from '../domain/model.js';
import { type Caller, ownPrincipal } from '../domain/principal.js';
import { CommitOutcomeUnknownError, ShardUnavailableError } from '../errors.js';
import type { ActionRunner } from '../execution/action-executor.js';
import type { SagaClass } from '../sagas/saga.js';
import { SagaOutcome } from './saga-outcome.js';
import { runSaga, type SagaSetting, type SagaTrouble, StartAction } from './saga-simulation.js';

/**
 * Specifies one saga without a database and without waiting: `await spec.given(source,
 * destination).when(TransferInitiateAction, params).thenEnds('COMPLETED')`. The runtime's own driver takes the steps
 * with the application's actions, on the given models. The clock of a run starts at the time of the specification's
 * clock and advances to the next pause, time-out or scheduled action when no other work is left. Immutable, so tests
 * may share one.
 */
export class SagaSpec<M extends Model> {
  readonly #saga: SagaClass<M>;
  readonly #setting: SagaSetting;

  /** @internal use `applicationSpecs` */
  constructor(saga: SagaClass<M>, setting: SagaSetting) {
    this.#saga = saga;
    this.#setting = setting;
  }

  /** Stores these models at the versions that they have, without their pending events. */
  given(...models: readonly Entity[]): SagaSpec<M> {
    const all = [...this.#setting.models, ...models];
    return new SagaSpec(this.#saga, { ...this.#setting, models: all });
  }

  /**
   * Attempts of the step of this state fail with this error and write nothing. A refusal (`RefusedError`) leads to
   * `refused`. Temporary errors (`ShardUnavailableError`, `StaleModelError`) are retried. Other errors count as
   * defects.
   *
   * @param times number of failing attempts, from the first on. Default: all
   */
  givenFailure(state: M['state'], error: Error, times: number = Number.POSITIVE_INFINITY): SagaSpec<M> {
    return this.#troubled({ state, point: 'before commit', times, error });
  }

  /** The shard of this state's step is unreachable until the step's time-out. */
  givenTimeOut(state: M['state']): SagaSpec<M> {
    const error = new ShardUnavailableError('of the step', 'simulated by the specification');
    return this.givenFailure(state, error);
  }

  /** The step of this state commits, but its reply is lost, so the runtime must determine the outcome. */
  givenLostAnswer(state: M['state']): SagaSpec<M> {
    const error = new CommitOutcomeUnknownError('of the step');
    return this.#troubled({ state, point: 'after commit', times: 1, error });
  }

  /**
   * While the saga waits in this state, this action runs: once, under the same principal. A function receives the
   * saga's model, for an id that the action that starts the saga has generated.
   *
   * @param afterMs milliseconds after the begin of the wait. Default 0
   */
  givenSignal<Params>(
    state: M['state'],
    action: ActionClass<Params, unknown>,
    params: ActionInput<NoInfer<Params>> | ((model: M) => ActionInput<NoInfer<Params>>),
    afterMs: number = 0,
  ): SagaSpec<M> {
    const { principal } = this.#setting;
    // The simulation passes the model of this saga. No params are a function.
    type OfModel = (model: Model) => ActionInput<NoInfer<Params>>;
    const run = (executor: ActionRunner, model: Model) =>
      executor.execute(principal, action, typeof params === 'function' ? (params as OfModel)(model) : params);
    const signals = [...this.#setting.signals, { state, afterMs, run }];
    return new SagaSpec(this.#saga, { ...this.#setting, signals });
  }

  /** The principal that starts the saga and takes its steps. Default: a principal named `spec`. */
  as(principal: Caller): SagaSpec<M> {
    return new SagaSpec(this.#saga, { ...this.#setting, principal });
  }

  /** A part of the system starts the saga and takes its steps: `fw:system:billing` for `billing`, without rules. */
  asSystem(part: string): SagaSpec<M> {
    return this.as(ownPrincipal(`system:${part}`));
  }

  /** Starts the saga with an action that calls `Saga.start`, and runs it until it ends or gets stuck. */
  when<Params>(
    action: ActionClass<Params, unknown>,
    params: ActionInput<NoInfer<Params>>,
    configuration?: ExecutionConfiguration,
  ): SagaOutcome<M> {
    const performed = runSaga<M>(this.#setting, this.#saga, (executor) =>
      executor.execute(this.#setting.principal, action, params, configuration),
    );
    return new SagaOutcome(performed);
  }

  /** Starts the saga in a state that has a step, with an event attached, and runs it until it ends or gets stuck. */
  whenStarted(state: M): SagaOutcome<M> {
    const performed = runSaga<M>(this.#setting, this.#saga, (executor) =>
      executor.execute(this.#setting.principal, StartAction, { state }),
    );
    return new SagaOutcome(performed);
  }

  #troubled(trouble: SagaTrouble): SagaSpec<M> {
    const troubles = [...this.#setting.troubles, trouble];
    return new SagaSpec(this.#saga, { ...this.#setting, troubles });
  }
}
