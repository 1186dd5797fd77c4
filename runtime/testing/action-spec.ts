import type { Action } from '../action/action.js';
import type { ActionInput } from '../action/action-input.js';
import { ExecutionConfiguration } from '../action/execution-configuration.js';
import { reachBy } from '../action/tenancy.js';
import type { Clock } from '../domain/clock.js';
import type { EventDescriptor } from '../domain/descriptor.js';
import type { Entity, ModelDescriptor } from '../domain/entity.js';
import { type Caller, principalOf } from '../domain/principal.js';
import { EventCatalog } from '../persistence/codec/event-catalog.js';
import { EventHistory } from '../persistence/read/event-history.js';
import type { RepositoryContext } from '../persistence/read/repository.js';
import type { Placement } from '../sharding/placement.js';
import { ActionOutcome } from './action-outcome.js';
import { MemoryModels, type MemoryTopology } from './memory-models.js';
import { memoryPlacement } from './memory-placement.js';
import { type Performed, performOnce } from './perform-once.js';
import { VirtualClock } from './virtual-clock.js';

/** The objects from which an action under test is created. */
export interface SpecKit {
  readonly clock: Clock;
  /** First argument of every repository: reads by id see the given models. */
  readonly repositories: RepositoryContext;
  /** Passed to constructors of actions that take one; reading it needs a database. */
  readonly eventHistory: EventHistory;
  /** A placement over the configured shards, all with the same weight and size. */
  readonly placement: Placement;
  /** A repository over the given models. */
  repository<M extends Entity, R>(repositoryClass: RepositoryClass<M, R>, model: ModelDescriptor<M>): R;
}

/** A repository class as a value. */
export type RepositoryClass<M extends Entity, R> = new (
  context: RepositoryContext,
  model: ModelDescriptor<M>,
) => R;

/** Options of an action's specification. */
export interface ActionSpecOptions<Params, Result> extends MemoryTopology {
  /** Creates the action, once per `when`. */
  readonly create: (kit: SpecKit) => Action<Params, Result>;
  /** Default: a `VirtualClock` at 2025-01-01T00:00:00Z. */
  readonly clock?: Clock;
  /** The registered events; others are refused. Default: events of every class are accepted. */
  readonly events?: readonly EventDescriptor[];
  /** The default principal. Default: a principal named `spec`. */
  readonly principal?: Caller;
}

/** @internal The options with the application's descriptor of the action. */
export interface PreparedSpecOptions<Params, Result>
  extends Omit<ActionSpecOptions<Params, Result>, 'create'> {
  /** Creates the action and completes its params. */
  readonly prepare: (kit: SpecKit, input: ActionInput<Params>) => PreparedAction<Params, Result>;
}

/** @internal */
export interface PreparedAction<Params, Result> {
  readonly action: Action<Params, Result>;
  readonly params: Params;
}

interface Setting<Params, Result> extends PreparedSpecOptions<Params, Result> {
  readonly clock: Clock;
  readonly models: readonly Entity[];
  readonly principal: Caller;
}

/** @internal The default principal of specifications. */
export const DEFAULT_PRINCIPAL: Caller = Object.freeze({ name: 'spec' });
const DEFAULT_CONFIGURATION = ExecutionConfiguration.Builder.executionConfiguration().build();

/**
 * Specifies one action without a database: `await spec.given(wallet).when(params).thenUpdated(Wallet, { version: 2 })`.
 * It runs the real plan; reads by id find the given models. Immutable, so tests may share one.
 */
export class ActionSpec<Params, Result> {
  readonly #setting: Setting<Params, Result>;

  private constructor(setting: Setting<Params, Result>) {
    this.#setting = setting;
  }

  /** @internal use `actionSpec` */
  static of<Params, Result>(options: PreparedSpecOptions<Params, Result>): ActionSpec<Params, Result> {
    const { clock = new VirtualClock(), principal = DEFAULT_PRINCIPAL } = options;
    return new ActionSpec({ ...options, clock, models: [], principal });
  }

  /** Stores these models at the versions that they have, without their pending events. */
  given(...models: readonly Entity[]): ActionSpec<Params, Result> {
    return new ActionSpec({ ...this.#setting, models: [...this.#setting.models, ...models] });
  }

  /** Sets the acting principal. Default: a principal named `spec`. */
  as(principal: Caller): ActionSpec<Params, Result> {
    return new ActionSpec({ ...this.#setting, principal });
  }

  /** Starts the action at once; it runs once. */
  when(
    params: ActionInput<Params>,
    configuration: ExecutionConfiguration = DEFAULT_CONFIGURATION,
  ): ActionOutcome<Result> {
    return ActionOutcome.of(this.#perform(params, configuration));
  }

  async #perform(
    input: ActionInput<Params>,
    configuration: ExecutionConfiguration,
  ): Promise<Performed<Result>> {
    const { clock, principal: caller, prepare, events, tenancy } = this.#setting;
    const principal = principalOf(caller);
    const models = new MemoryModels(this.#setting.models, this.#setting);
    const { action, params } = prepare(kitOf(clock, models), input);
    const catalog = events === undefined ? undefined : new EventCatalog(events);
    const reach =
      tenancy && reachBy(tenancy, { groupNumbers: (groups) => models.groupNumbers(groups), own: new Set() });
    return performOnce({
      action,
      principal,
      params,
      configuration,
      clock,
      models,
      catalog,
      reach: reach?.(principal, action.constructor),
    });
  }
}

/**
 * Starts the specification of one action; see `ActionSpec`. It does not apply defaults of the generator: pass params
 * with a `@default`, or use `applicationSpecs`, which fills them in.
 */
export function actionSpec<Params, Result>({
  create,
  ...options
}: ActionSpecOptions<Params, Result>): ActionSpec<Params, Result> {
  const prepare = (kit: SpecKit, input: ActionInput<Params>): PreparedAction<Params, Result> => ({
    action: create(kit),
    params: input as Params,
  });
  return ActionSpec.of({ ...options, prepare });
}

function kitOf(clock: Clock, repositories: MemoryModels): SpecKit {
  return {
    clock,
    repositories,
    eventHistory: new EventHistory(repositories),
    placement: memoryPlacement(repositories),
    repository: (repositoryClass, model) => new repositoryClass(repositories, model),
  };
}
