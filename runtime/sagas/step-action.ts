import { Action, startPerform } from '../action/action.js';
import type { ActionDescriptor } from '../action/action-descriptor.js';
import type { Clock } from '../domain/clock.js';
import type { ShardedId } from '../domain/id.js';
import type { Model } from '../domain/model.js';
import type { Principal } from '../domain/principal.js';
import { UnknownActionError } from '../errors.js';
import type { Repository } from '../persistence/read/repository.js';
import type { SagaDefinition } from './saga-definition.js';
import type { SagaRunRepository } from './saga-run-repository.js';
import type { SagaFailure, SagaStep } from './saga-step.js';
import { stageMove } from './stage-saga.js';
import { type StepPlace, StepRecord } from './step-record.js';

/** The dependencies of the runtime's own actions. */
export interface SagaKit {
  readonly clock: Clock;
  readonly runs: SagaRunRepository;
  readonly records: Repository<StepRecord>;
}

export interface StepParams extends StepPlace {
  /** Id of the step's record on the shard that the action writes to. Absent if that is the saga's own shard. */
  readonly record?: ShardedId<StepRecord>;
  /** Params of the step's action. */
  readonly params: object;
}

/** The outcome of a step. */
export type StepOutcome =
  /** Committed on another shard; the saga has not moved yet. */
  | { readonly kind: 'done' }
  /** Abandoned before, for this reason. */
  | { readonly kind: 'void'; readonly failure: SagaFailure }
  /** The saga has moved on, with this step or before. */
  | { readonly kind: 'moved' };

const DONE: StepOutcome = { kind: 'done' };
const MOVED: StepOutcome = { kind: 'moved' };

/** The outcome that a record states. */
export function outcomeOfRecord({ failure }: StepRecord): StepOutcome {
  return failure === undefined ? DONE : { kind: 'void', failure };
}

/**
 * Takes one step: runs its action in a plan that also records the run. On the saga's own shard the record is the saga's
 * move to the next state, elsewhere a `StepRecord`.
 */
class StepAction extends Action<StepParams, StepOutcome> {
  readonly #definition: SagaDefinition;
  readonly #inner: ActionDescriptor;
  readonly #kit: SagaKit;

  constructor(definition: SagaDefinition, inner: ActionDescriptor, kit: SagaKit) {
    super(kit.clock);
    this.#definition = definition;
    this.#inner = inner;
    this.#kit = kit;
  }

  protected perform(principal: Principal, params: StepParams): Promise<StepOutcome> {
    const { record } = params;
    return record === undefined ? this.#here(principal, params) : this.#elsewhere(principal, params, record);
  }

  async #here(principal: Principal, { saga, stepNumber, params }: StepParams): Promise<StepOutcome> {
    const [run, state] = await Promise.all([
      this.#kit.runs.getById(saga),
      this.#definition.states.getById(saga),
    ]);
    const step = this.#definition.step(run.step);
    if (run.state !== 'RUNNING' || run.stepNumber !== stepNumber || step?.action === undefined) return MOVED;
    await this.#runInner(principal, params);
    const to = step.done(state);
    stageMove(this.plan(), this.#definition.saga, { run, from: state, to, failure: undefined });
    return MOVED;
  }

  async #elsewhere(
    principal: Principal,
    { params, ...place }: StepParams,
    id: ShardedId<StepRecord>,
  ): Promise<StepOutcome> {
    const known = await this.#kit.records.findById(id);
    if (known !== undefined) return outcomeOfRecord(known);
    await this.#runInner(principal, params);
    this.plan().add(StepRecord.of(id, place, this.clock.now()));
    return DONE;
  }

  /** Runs the step's action in this plan. */
  async #runInner(principal: Principal, params: object): Promise<void> {
    // The signature of `step` guarantees that the params are those of the action.
    await startPerform(this.#inner.create(), this.plan(), principal, params as never, () => this.log);
  }
}

/** A step's action as the registry holds it. */
export type RegisteredStep = ActionDescriptor<StepParams, StepOutcome>;

/**
 * Creates the action of one step, under its own name: `TransferSaga.INITIATED`.
 *
 * @throws UnknownActionError if the step's action is not among those of the application
 */
export function registerStep(
  definition: SagaDefinition,
  { state, step }: { readonly state: string; readonly step: SagaStep<Model> },
  actions: readonly ActionDescriptor[],
  kit: SagaKit,
): RegisteredStep {
  const { saga } = definition;
  const inner = actions.find(({ actionClass }) => actionClass === step.action);
  if (inner === undefined) {
    throw new UnknownActionError(
      `${saga.name} runs ${step.action.name} in state ${state}, which is no action of the application; mark it with @FwAction`,
    );
  }
  // The registry identifies actions by class, so each step needs its own.
  const actionClass = class extends StepAction {};
  const params = inner.params.filter(({ secret }) => secret !== true);
  return {
    name: `${saga.name}.${state}`,
    actionClass,
    params: [
      { name: 'saga', type: { kind: 'uuid' } },
      { name: 'stepNumber', type: { kind: 'number' } },
      { name: 'params', type: { kind: 'object', fields: params } },
    ],
    result: { kind: 'opaque' },
    create: () => new actionClass(definition, inner, kit),
  };
}
