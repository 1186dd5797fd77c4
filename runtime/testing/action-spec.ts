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

/** What an action under test is wired with. */
export interface SpecKit {
  readonly clock: Clock;
  /** First argument of every repository: reads by id see the given models. */
  readonly repositories: RepositoryContext;
  /** There, so that an action that takes one can be made; reading it needs a database. */
  readonly eventHistory: EventHistory;
  /** Over the configured shards, all of one weight and size. */
  readonly placement: Placement;
  /** A repository over the given models. */
  repository<M extends Entity, R>(repositoryClass: RepositoryClass<M, R>, model: ModelDescriptor<M>): R;
}

/** A repository class as a value. */
export type RepositoryClass<M extends Entity, R> = new (
  context: RepositoryContext,
  model: ModelDescriptor<M>,
) => R;

/** What is specified. */
export interface ActionSpecOptions<Params, Result> extends MemoryTopology {
  /** Makes the action, once per `when`. */
  readonly create: (kit: SpecKit) => Action<Params, Result>;
  /** Default: a `VirtualClock` that stands at 2025-01-01T00:00:00Z. */
  readonly clock?: Clock;
  /** The registered events; others are refused. Default: events of every class are taken. */
  readonly events?: readonly EventDescriptor[];
  /** Who acts unless `as` says otherwise. Default: a principal named `spec`. */
  readonly principal?: Caller;
}

/** @internal The options with what an application knows of its actions besides. */
export interface PreparedSpecOptions<Params, Result>
  extends Omit<ActionSpecOptions<Params, Result>, 'create'> {
  /** Makes the action and completes its params. */
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

/** @internal Who acts unless a specification says otherwise. */
export const DEFAULT_PRINCIPAL: Caller = Object.freeze({ name: 'spec' });
const DEFAULT_CONFIGURATION = ExecutionConfiguration.Builder.executionConfiguration().build();

/**
 * Specifies one action without any database:
 * `await spec.given(wallet).when(params).thenUpdated(Wallet, { version: 2 })`.
 * It runs the real plan; reads by id find the given models. Immutable, so that tests may share one.
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

  /** These models are stored, at the versions that they have; events that they still carry are not. */
  given(...models: readonly Entity[]): ActionSpec<Params, Result> {
    return new ActionSpec({ ...this.#setting, models: [...this.#setting.models, ...models] });
  }

  /** Who acts. Default: a principal named `spec`. */
  as(principal: Caller): ActionSpec<Params, Result> {
    return new ActionSpec({ ...this.#setting, principal });
  }

  /** Performs the action once, at once. */
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
 * Starts the specification of one action; see `ActionSpec`. It does not know what the generator knows: give params with
 * a `@default`, or use `applicationSpecs`, which puts their values in place.
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
