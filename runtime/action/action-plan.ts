import type { Clock } from '../domain/clock.js';
import { type ColumnSet, changedColumns } from '../domain/column-set.js';
import type { ModelDescriptor } from '../domain/entity.js';
import {
  baseOf,
  copyWith,
  descriptorOf,
  type Entity,
  markStored,
  noteSameRow,
  pendingEventsOf,
  rowKey,
  rowOf,
} from '../domain/entity.js';
import { ownValues } from '../domain/frozen-document.js';
import { ShardedId } from '../domain/id.js';
import { INITIAL_VERSION } from '../domain/model-builder.js';
import type { ModelEvent } from '../domain/model-event.js';
import { heldKeys, type modelKeys } from '../domain/natural-key.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { PlanMisuseError, ValidationError } from '../errors.js';
import type { ActionClass } from './action.js';
import type { ActionInput } from './action-input.js';
import { PlannedSchedule, SYSTEM_NAME } from './planned-schedule.js';

/** An insert: the model as it will be stored. */
interface StagedAdd {
  readonly kind: 'add';
  readonly descriptor: ModelDescriptor;
  /** What the commit will store; carries no pending events. */
  readonly model: Entity;
  readonly events: readonly ModelEvent<unknown>[];
}

/** An update with a version check: applied only if the stored version is `expectedVersion`. */
interface StagedUpdate {
  readonly kind: 'update';
  readonly descriptor: ModelDescriptor;
  /** What the commit will store, at `expectedVersion + 1`; carries no pending events. */
  readonly model: Entity;
  readonly expectedVersion: number;
  /** The columns that it changes; all others keep their values. Default: all columns. */
  readonly changed?: ColumnSet;
  /** Names of the natural keys that the row has held so far. Default: none, or unknown. */
  readonly heldBefore?: readonly string[];
  /** @internal The remembered state that it starts from: stale if the row has another revision. Default: it was read. */
  guess?: Entity | undefined;
  readonly events: readonly ModelEvent<unknown>[];
}

/** A version check without a write: the plan is stale if the stored version differs. */
interface StagedExpectation {
  readonly kind: 'expect';
  readonly descriptor: ModelDescriptor;
  readonly model: Entity;
  readonly expectedVersion: number;
  /** @internal See `StagedUpdate`. */
  guess?: Entity | undefined;
}

/** One operation of a plan. */
export type StagedItem = StagedAdd | StagedUpdate | StagedExpectation;

/** Finds stored models by the natural key of another one: a repository. */
interface KeyedModels<M> {
  /** The model with the same key as this one, on the same shard. */
  findSameKey(model: M): Promise<M | undefined>;
}

/** `M` if it has a natural key, else `never`. */
type Keyed<M> = typeof modelKeys extends keyof M ? M : never;

/** Most plans neither schedule nor cancel actions, so they share this list. */
const NOTHING: readonly never[] = Object.freeze([]);

/** Maximum models of one plan. */
const MOST_ITEMS = 10_000;

/** The intent of one attempt of one action: what to insert, update and expect. The plan itself writes nothing. */
export class ActionPlan {
  /** @internal That of its action. */
  readonly clock: Clock;
  readonly #items = new Map<string, StagedItem>();
  /** @internal Items of models with natural keys; created with the first. */
  keyed: KeyedItems | undefined;
  readonly #defaultShard: ShardIdentifier;
  /** Created with the first schedule that is added or cancelled. */
  #changes: ScheduleChanges | undefined;
  #sealed = false;

  /** @param defaultShard the shard of models without a sharded id */
  constructor(clock: Clock, defaultShard: ShardIdentifier = ShardIdentifier.of(0, 0)) {
    this.clock = clock;
    this.#defaultShard = defaultShard;
  }

  /**
   * Stages an insert.
   *
   * @returns the model as it will be stored, without pending events
   * @throws PlanMisuseError if its id is already staged or it is not a new model
   * @throws ValidationError if 10,000 models are staged: it does not fit into one statement
   */
  add<M extends Entity>(model: M): M {
    const descriptor = descriptorFor(model);
    if (model.version !== INITIAL_VERSION) {
      throw new PlanMisuseError(
        `${label(model)} has version ${model.version}; only a new model (withInitialVersion()) can be added`,
      );
    }
    const events = pendingEventsOf(model);
    const own = ownValues(descriptor as unknown as ModelDescriptor, model);
    const isFinal = events.length === 0 && own === undefined;
    const stored = markStored(isFinal ? model : copyWith(descriptor, model, own ?? {}));
    this.#stage({ kind: 'add', descriptor, model: stored, events });
    return stored;
  }

  /**
   * Stages an update that is applied only while the stored version is the model's. It writes the fields that differ
   * from the state that the model was copied from, by its builder's `copyOf` or `copyBase`; all fields of any other
   * model.
   *
   * @returns a frozen copy at the version that the commit will store, without pending events
   * @throws PlanMisuseError if its id is already staged
   * @throws ValidationError if 10,000 models are staged
   */
  update<M extends Entity>(model: M): M {
    const descriptor = descriptorFor(model);
    const base = baseOf(model);
    const own = ownValues(descriptor as unknown as ModelDescriptor, model, base);
    const changes: Record<string, unknown> = { version: model.version + 1 };
    if (own !== undefined) Object.assign(changes, own);
    if (descriptor.kind === 'model') changes['updatedDate'] = this.clock.now();
    const stored = markStored(copyWith(descriptor, model, changes));
    if (base !== undefined) noteSameRow(stored, base);
    const item: StagedUpdate = {
      kind: 'update',
      descriptor,
      model: stored,
      expectedVersion: model.version,
      changed: changedColumns(descriptor, base, stored),
      guess: undefined,
      events: pendingEventsOf(model),
    };
    const isKeyed = descriptor.keys !== undefined && base !== undefined;
    this.#stage(isKeyed ? { ...item, heldBefore: heldKeys(base) } : item);
    return stored;
  }

  /**
   * The stored model with the same natural key as this one, or this one, staged as new. Concurrent actions cannot
   * create a second model with the same key. Of several keys, the one without a name counts, else the first.
   *
   * The model is looked up on the shard of this one's id. To find out whether it existed, compare the ids: the staged
   * model is a copy if it has events, so `result === model` is not reliable.
   *
   * @returns the stored model, or the one that will be stored
   * @throws PlanMisuseError if the class has no `@Key`
   */
  async getOrAdd<M extends Entity>(repository: KeyedModels<M>, model: M & Keyed<M>): Promise<M> {
    const found = await repository.findSameKey(model);
    if (found !== undefined) return found;
    // A concurrent call may have staged one during the look-up.
    const [name] = heldKeys(model);
    const own = name === undefined ? undefined : this.keyed?.holderOf(name);
    return own === undefined ? this.add<M>(model) : (own as M);
  }

  /**
   * Stages a version check: if the stored version of the model differs at the commit, the whole plan is stale. For
   * models that the decision depends on, but that the plan does not change.
   *
   * @throws PlanMisuseError if its id is already staged
   */
  expect(model: Entity): void {
    const descriptor = descriptorOf(model);
    this.#stage({ kind: 'expect', descriptor, model, expectedVersion: model.version });
  }

  /**
   * Schedules an action for a time: it runs once, as soon as possible after that time, by the same principal with its
   * present claims, unless `options` name another one. The transaction of this plan stores it with its params, including
   * secret ones. `application.events.schedules` lists and cancels it.
   *
   * @param at a time, or the milliseconds after the commit. The database compares it with its own clock: a span does
   *   not depend on the clock of this process, a time that is computed from it does
   * @param options.principal the part of the system that executes the action: `fw:system:billing` for `billing`. It has
   *   no claims, and like a handler it reaches all shards. 1 to 100 visible ASCII characters
   * @returns the schedule; pass its `id` to `cancelSchedule`
   * @throws PlanMisuseError for an invalid date, span or principal
   */
  schedule<Params extends object>(
    at: Date | { readonly afterMs: number },
    actionClass: ActionClass<Params, unknown>,
    params: ActionInput<NoInfer<Params>>,
    { principal }: { readonly principal?: string } = {},
  ): PlannedSchedule {
    if (this.#sealed) {
      throw new PlanMisuseError(
        `${actionClass.name} was scheduled after perform had returned; await everything in perform`,
      );
    }
    const afterMs = at instanceof Date ? undefined : Math.round(at.afterMs);
    // A copy: a caller may move its date on, to schedule the next action.
    const dueDate = new Date(at instanceof Date ? at : this.clock.now().getTime() + at.afterMs);
    if (Number.isNaN(dueDate.getTime()))
      throw new PlanMisuseError(`${actionClass.name} cannot be scheduled at an invalid date`);
    if (principal !== undefined && !SYSTEM_NAME.test(principal))
      throw new PlanMisuseError(
        `${actionClass.name} cannot be scheduled for ${JSON.stringify(principal)}: the name of a part of the system has 1 to 100 visible ASCII characters`,
      );
    const facts = {
      dueDate,
      afterMs,
      actionClass: actionClass as unknown as ActionClass<never, unknown>,
      params,
      principal,
    };
    const schedule = new PlannedSchedule(facts, () => {
      const [first] = this.#items.values();
      return shardAmong(first === undefined ? params : [first.model.id]) ?? this.#defaultShard;
    });
    this.#changes ??= new ScheduleChanges();
    this.#changes.add(schedule);
    return schedule;
  }

  /**
   * Cancels a scheduled action in the transaction of this plan, unless it has already started. It must be on the plan's
   * shard, which its id names.
   *
   * @throws PlanMisuseError if `id` is not the id of a scheduled action
   */
  cancelSchedule(id: string): void {
    if (this.#sealed)
      throw new PlanMisuseError(
        'A schedule was cancelled after perform had returned; await everything in perform',
      );
    const uuid = scheduleId(id);
    this.#changes ??= new ScheduleChanges();
    this.#changes.cancel(uuid);
  }

  /** Actions scheduled so far. */
  get schedules(): readonly PlannedSchedule[] {
    return this.#changes?.planned ?? NOTHING;
  }

  /** Ids of schedules cancelled so far. */
  get cancelledSchedules(): readonly string[] {
    return this.#changes === undefined ? NOTHING : [...this.#changes.cancelled];
  }

  /** Items staged so far, in staging order. */
  get items(): readonly StagedItem[] {
    return [...this.#items.values()];
  }

  /** The staged item of this id, if any. */
  staged(modelName: string, id: string): StagedItem | undefined {
    return this.#items.size === 0 ? undefined : this.#items.get(rowKey(modelName, id));
  }

  /** @internal Whether a state of this model is staged. */
  isStaged(model: Entity): boolean {
    return this.#items.has(rowOf(model));
  }

  /** Ends staging: called by the executor when `perform` has returned. */
  seal(): readonly StagedItem[] {
    this.#sealed = true;
    return this.items;
  }

  #stage(item: StagedItem): void {
    if (this.#sealed) {
      throw new PlanMisuseError(
        `${label(item.model)} was staged after perform had returned; await everything in perform`,
      );
    }
    const row = rowOf(item.model);
    if (this.#items.has(row)) {
      throw new PlanMisuseError(
        `${label(item.model)} is staged twice in one plan; stage only its last state`,
      );
    }
    // One statement has to write them within its time, and the process to serve others meanwhile.
    if (this.#items.size === MOST_ITEMS)
      throw new ValidationError(`A plan stages at most ${MOST_ITEMS} models: divide the work`);
    this.#items.set(row, item);
    if (item.descriptor.keys === undefined) return;
    this.keyed ??= new KeyedItems();
    this.keyed.items.push(item);
  }
}

/** The staged items of models with natural keys. */
class KeyedItems {
  readonly items: StagedItem[] = [];
  /** The future holder of each natural key, filled on demand up to the last requested item. */
  readonly #holders = new Map<string, Entity>();
  #indexed = 0;

  /** The staged model that will hold this natural key, if any. */
  holderOf(key: string): Entity | undefined {
    for (; this.#indexed < this.items.length; this.#indexed += 1) {
      const item = this.items[this.#indexed];
      if (item === undefined || item.kind === 'expect') continue;
      for (const held of heldKeys(item.model)) {
        if (!this.#holders.has(held)) this.#holders.set(held, item.model);
      }
    }
    return this.#holders.get(key);
  }
}

/** The schedules that a plan adds and cancels. */
class ScheduleChanges {
  planned: readonly PlannedSchedule[] = [];
  readonly cancelled = new Set<string>();

  add(schedule: PlannedSchedule): void {
    this.planned = [...this.planned, schedule];
  }

  cancel(id: string): void {
    const others = this.planned.filter(({ settledId }) => settledId !== id);
    if (others.length === this.planned.length) this.cancelled.add(id);
    this.planned = others;
  }
}

function descriptorFor<M extends Entity>(model: M): ModelDescriptor<M> {
  return descriptorOf(model) as unknown as ModelDescriptor<M>;
}

/** The shard of the first sharded id among the values of params. */
export function shardAmong(params: object): ShardIdentifier | undefined {
  for (const value of Object.values(params)) {
    if (value instanceof ShardedId) return value.resolveShardIdentifier();
  }
  return undefined;
}

/** @throws PlanMisuseError for a text that names no shard */
function scheduleId(id: string): string {
  try {
    return ShardedId.named('Schedule', id).getValue();
  } catch (cause) {
    throw new PlanMisuseError(`${JSON.stringify(id)} is not the id of a scheduled action`, { cause });
  }
}

function label(model: Entity): string {
  return `${model.constructor.name} ${model.id?.getValue() ?? '(no id)'}`;
}
