import type { ActionPlan } from '../action/action-plan.js';
import type { Model } from '../domain/model.js';
import { storedName } from '../domain/stored-names.js';
import type { SagaSteps } from './saga-step.js';
import { stageStart } from './stage-saga.js';

/** A saga class as a value. */
export type SagaClass<M extends Model> = new () => Saga<M>;

/**
 * A change that spans several shards: a chain of actions, each atomic on its shard, whose progress is the state of an
 * ordinary model. The runtime takes the step of the model's current state, despite crashes in between, until the model
 * reaches a state without a step. Subclasses are marked with `@FwSaga` and have no constructor.
 *
 * @typeParam M the state model: a `Model` with a sharded id; it stays on the shard where it was created
 */
export abstract class Saga<M extends Model> {
  /** Type only: distinguishes sagas of different models. */
  declare protected readonly stateType?: M;

  /** Stable name: identifies its checkpoints and steps. 1 to 80 visible ASCII characters. Default: the name in its descriptor. */
  readonly name: string = storedName(this.constructor);
  /** Former names, so that a rename keeps checkpoints and running sagas. Default none. */
  readonly aliases: readonly string[] = [];
  /** Maximum sagas handled in parallel, on each shard. Default 32. */
  readonly concurrency: number = 32;
  /** The step of each state. */
  abstract readonly steps: SagaSteps<M>;

  /**
   * Starts a saga: stages its state and the first step's time-out in the plan. Call it in `perform` of the action that
   * does the first part of the work, so that both are committed together or not at all.
   *
   * @param state a new model, in a state that has a step, with an event attached
   * @returns the model as it will be stored
   * @throws PlanMisuseError for a state without a step or an event
   */
  static start<M extends Model>(this: SagaClass<M>, plan: ActionPlan, state: M): M {
    return stageStart(plan, new this(), state);
  }
}
