import type { Action, ActionClass } from '../action/action.js';
import type { ActionDescriptor } from '../action/action-descriptor.js';
import type { ActionInput } from '../action/action-input.js';
import type { ActionPlan } from '../action/action-plan.js';
import { ActionRegistry } from '../action/action-registry.js';
import type { ExecutionConfiguration } from '../action/execution-configuration.js';
import { nextDue } from '../cron.js';
import type { Clock } from '../domain/clock.js';
import type { EventDescriptor } from '../domain/descriptor.js';
import type { Entity } from '../domain/entity.js';
import type { ModelEvent } from '../domain/model-event.js';
import { type Caller, ownPrincipal, storedPrincipal } from '../domain/principal.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { ValidationError } from '../errors.js';
import { recurrencesOf, runParams } from '../events/schedules/recurrence.js';
import { type CataloguedEvent, EventCatalog } from '../persistence/codec/event-catalog.js';
import { ActionOutcome } from './action-outcome.js';
import {
  type MemoryApplication,
  memoryApplication,
  type SpecifiedApplication,
  type SpecKit,
  type SpecSetting,
} from './memory-application.js';
import type { MemoryTopology } from './memory-databases.js';
import { eventsOf, type Performed, performedIn, withoutTimeLimits } from './performed.js';
import { VirtualClock } from './virtual-clock.js';

/** Options of an action's specification. */
interface ActionSpecOptions<Params, Result> extends MemoryTopology {
  /** Creates the action, once per `when`. */
  readonly create: (kit: SpecKit) => Action<Params, Result>;
  /** Default: a `VirtualClock` at 2025-01-01T00:00:00Z. */
  readonly clock?: Clock;
  /** The registered events; others are refused. Default: events of every class are accepted. */
  readonly events?: readonly EventDescriptor[];
  /** The default principal. Default: a principal named `spec`. */
  readonly principal?: Caller;
}

/** @internal */
export interface ActionSetting<Params, Result> extends SpecSetting {
  /** Default: the application's only action. */
  readonly actionClass?: ActionClass<Params, Result>;
  readonly principal: Caller;
}

/** @internal The default principal of specifications. */
export const DEFAULT_PRINCIPAL: Caller = Object.freeze({ name: 'spec' });

/**
 * Specifies one action without a database: `await spec.given(wallet).when(params).thenUpdated(Wallet, { version: 2 })`.
 * The runtime's executor runs it on a store in memory; reads by id find the given models. Immutable, so tests may share
 * one.
 */
export class ActionSpec<Params, Result> {
  readonly #setting: ActionSetting<Params, Result>;

  /** @internal use `actionSpec` */
  constructor(setting: ActionSetting<Params, Result>) {
    this.#setting = setting;
  }

  /** Stores these models at the versions that they have, without their pending events. */
  given(...models: readonly Entity[]): ActionSpec<Params, Result> {
    return new ActionSpec({ ...this.#setting, models: [...this.#setting.models, ...models] });
  }

  /** Sets the acting principal. Default: a principal named `spec`. */
  as(principal: Caller): ActionSpec<Params, Result> {
    return new ActionSpec({ ...this.#setting, principal });
  }

  /**
   * The acting principal is a part of the system, to which rules do not apply: `fw:system:billing` for `billing`, as for
   * `plan().schedule(at, action, params, { principal: 'billing' })`.
   */
  asSystem(part: string): ActionSpec<Params, Result> {
    return this.as(ownPrincipal(`system:${part}`));
  }

  /** Starts the action at once; it runs once. */
  when(params: ActionInput<Params>, configuration?: ExecutionConfiguration): ActionOutcome<Result> {
    const { clock, principal } = this.#setting;
    return new ActionOutcome(this.#perform(clock, () => ({ principal, params, configuration })));
  }

  /**
   * Lets time pass until the action is due by its `@FwSchedule`, and runs it then, as its schedule says. The clock of the
   * run starts at the time of the specifications' clock.
   *
   * @param shard of a run on each shard. Default: the default shard
   * @throws ValidationError (when awaited) if the action has no schedule
   */
  whenDue(shard?: ShardIdentifier): ActionOutcome<Result> {
    const clock = new VirtualClock(this.#setting.clock.now());
    const due = ({ registry, databases }: MemoryApplication, { name }: ActionDescriptor): Call<Params> => {
      const recurrence = recurrencesOf(registry).get(name);
      if (recurrence === undefined) throw new ValidationError(`${name} has no @FwSchedule`);
      clock.set(nextDue(recurrence, clock.now()));
      // The generator accepts a schedule only if these are params of the action.
      const params = runParams(recurrence, shard ?? databases.defaultShard) as ActionInput<Params>;
      return { principal: storedPrincipal(recurrence.principal), params };
    };
    return new ActionOutcome(this.#perform(clock, due));
  }

  async #perform(
    clock: Clock,
    callOf: (run: MemoryApplication, action: ActionDescriptor) => Call<Params>,
  ): Promise<Performed<Result>> {
    const { application, models, actionClass } = this.#setting;
    let plan: ActionPlan | undefined;
    const run = memoryApplication(application, {
      clock,
      models,
      attempted: (_action, _params, attempted) => {
        plan = attempted;
      },
    });
    const [only] = run.registry.all();
    // The only action is that of `actionSpec`, which has these types.
    const performed = actionClass ?? (only?.actionClass as unknown as ActionClass<Params, Result>);
    const action = run.registry.find(performed) as unknown as ActionDescriptor;
    const { principal, params, configuration } = callOf(run, action);
    const result = await run.executor.execute(principal, performed, params, configuration);
    run.databases.requireNoQuery();
    // The staging order of a plan for several shards.
    const { items = [], schedules = [] } = plan ?? {};
    const inOrder = { items, events: eventsOf(items), schedules: withoutTimeLimits(schedules) };
    return { ...performedIn(run, result), ...inOrder };
  }
}

/** How an action is called. */
interface Call<Params> {
  readonly principal: Caller;
  readonly params: ActionInput<Params>;
  readonly configuration?: ExecutionConfiguration | undefined;
}

/** Accepts events of every class. */
class OpenCatalog extends EventCatalog {
  override of(event: ModelEvent<unknown>): CataloguedEvent {
    return { name: event.constructor.name, version: 1, writePayload: () => '{}' };
  }
}

/** Accepts scheduled actions of every class. */
class OpenRegistry extends ActionRegistry {
  override find<Params, Result>(actionClass: ActionClass<Params, Result>): ActionDescriptor<Params, Result> {
    if (this.all().some((each) => (each.actionClass as unknown) === actionClass))
      return super.find(actionClass);
    const create = (): never => {
      throw new TypeError(`${actionClass.name} is only scheduled`);
    };
    return { name: actionClass.name, actionClass, params: [], create };
  }
}

/**
 * Starts the specification of one action; see `ActionSpec`. It does not apply defaults of the generator: pass params
 * with a `@default`, or use `applicationSpecs`, which fills them in.
 */
export function actionSpec<Params, Result>(
  options: ActionSpecOptions<Params, Result>,
): ActionSpec<Params, Result> {
  const { create, clock = new VirtualClock(), events, principal = DEFAULT_PRINCIPAL, ...topology } = options;
  const application: SpecifiedApplication = {
    ...topology,
    definition: { models: [], events: events ?? [] },
    ...(events === undefined && { catalog: OpenCatalog }),
    registry: OpenRegistry,
    sagas: [],
    wire: (kit) => {
      const action = create(kit);
      const { name } = action.constructor;
      // A look-up by class returns the descriptor with its own types.
      const actionClass = action.constructor as unknown as ActionClass<never, unknown>;
      return [{ name, actionClass, params: [], create: () => action as Action<never, unknown> }];
    },
    wireHandlers: () => [],
  };
  return new ActionSpec({ application, clock, models: [], principal });
}
