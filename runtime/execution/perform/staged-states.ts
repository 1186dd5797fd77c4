import type { StagedItem } from '../../action/action-plan.js';
import { TransientMap } from '../../collections/transient-map.js';
import { NO_SLOT, type Slotted, TransientSet } from '../../collections/transient-set.js';
import { type Entity, rowOf } from '../../domain/entity.js';
import { heldKey, heldKeys } from '../../domain/natural-key.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import type { PendingPlan } from '../../persistence/write/pending-plan.js';
import { TickQueue } from '../contention/tick-queue.js';
import type { RememberedModels } from './remembered-models.js';

/** A staged state that is not committed yet. */
export interface StagedState {
  readonly model: Entity;
  readonly pending: PendingPlan;
}

/** Pending plans that hold natural keys which another plan takes. */
export interface KeyTakers {
  readonly dependencies: readonly PendingPlan[];
  /** The index of one of the keys. */
  readonly constraint: string;
}

/** A state and the state that it was made from, which may become the latest again. */
interface ChainedState extends StagedState {
  before: ChainedState | undefined;
}

/** A sealed plan with staged states and an unknown outcome. */
interface StagedPlan extends Slotted {
  readonly pending: PendingPlan;
  readonly shard: ShardIdentifier;
}

/**
 * The latest staged states of sealed plans in this process, by `model/id`. A state is here only from the sealing of its
 * plan until the plan's outcome is known; an applied one is remembered then.
 */
export class StagedStates {
  readonly #latest = new TransientMap<ChainedState>();
  readonly #plans = new TransientSet<StagedPlan>();
  /** How many states of each row hold a natural key, by the key's name. */
  readonly #holders = new Map<string, Map<string, number>>();
  /** Lets executions that read one model each start from the state that the previous one has staged. */
  readonly loopTurns: TickQueue = new TickQueue();
  readonly #remembered: RememberedModels | undefined;

  /** @param remembered receives the states of applied plans. Default: they are forgotten */
  constructor(remembered?: RememberedModels) {
    this.#remembered = remembered;
  }

  /** @param row its key */
  get(row: string): StagedState | undefined {
    return this.#latest.get(row);
  }

  /** The latest state of the model that holds this natural key, if the state is not committed yet. */
  holderOf(key: string): StagedState | undefined {
    const rows = this.#holders.get(key);
    if (rows === undefined) return undefined;
    let holder: StagedState | undefined;
    for (const row of rows.keys()) {
      const latest = this.#latest.get(row);
      if (latest !== undefined && heldKeys(latest.model).includes(key)) holder = latest;
    }
    return holder;
  }

  /**
   * Other sealed plans that hold a natural key which these items take, and the index of one of the keys. They must be
   * settled first.
   *
   * @param keyed all items of a plan whose models have keys, if any
   * @returns undefined if there are none
   */
  keyTakers(keyed: readonly StagedItem[] | undefined): KeyTakers | undefined {
    if (keyed === undefined || this.#holders.size === 0) return undefined;
    const rows = new Set(keyed.map(({ model }) => rowOf(model)));
    const dependencies: PendingPlan[] = [];
    let constraint: string | undefined;
    for (const { kind, descriptor, model } of keyed) {
      if (kind === 'expect') continue;
      for (const key of descriptor.keys ?? []) {
        const name = heldKey(model, key);
        const holder = name === undefined ? undefined : this.holderOf(name);
        if (holder === undefined || rows.has(rowOf(holder.model))) continue;
        dependencies.push(holder.pending);
        constraint = key.index;
      }
    }
    return constraint === undefined ? undefined : { dependencies, constraint };
  }

  /** Whether a sealed plan has staged a newer state than the one that this item starts from. */
  isSuperseded(item: StagedItem): boolean {
    if (item.kind === 'add') return false;
    const latest = this.get(rowOf(item.model));
    return latest !== undefined && latest.model.version !== item.expectedVersion;
  }

  /** Publishes the changes of a sealed plan, all on this shard, until the plan is settled. */
  publish(items: readonly StagedItem[], pending: PendingPlan, shard: ShardIdentifier): void {
    const states: ChainedState[] = [];
    for (const { kind, descriptor, model } of items) {
      if (kind === 'expect' || descriptor.chaining === false) continue;
      const row = rowOf(model);
      const state = { model, pending, before: this.#latest.get(row) };
      this.#latest.set(row, state);
      if (descriptor.keys !== undefined) this.#hold(row, model);
      states.push(state);
    }
    if (states.length === 0) return;
    const plan = { pending, shard, slot: NO_SLOT };
    this.#plans.add(plan);
    const era = this.#remembered?.eraOf(shard);
    pending.onSettled(() => {
      this.#plans.delete(plan);
      for (const state of states) {
        this.#forget(rowOf(state.model), state);
        if (pending.state === 'applied') this.#remembered?.keepStaged(state.model, shard, era);
      }
    });
  }

  /** The plans on this shard with staged states and an unknown outcome. */
  pendingPlans(shard: ShardIdentifier): readonly PendingPlan[] {
    return this.#plans.filter((plan) => plan.shard === shard).map(({ pending }) => pending);
  }

  #hold(row: string, model: Entity): void {
    for (const key of heldKeys(model)) {
      const rows = this.#holders.get(key) ?? new Map<string, number>();
      rows.set(row, (rows.get(row) ?? 0) + 1);
      this.#holders.set(key, rows);
    }
  }

  #release(row: string, model: Entity): void {
    for (const key of heldKeys(model)) {
      const rows = this.#holders.get(key);
      const count = rows?.get(row);
      if (rows === undefined || count === undefined) continue;
      if (count > 1) rows.set(row, count - 1);
      else rows.delete(row);
      if (rows.size === 0) this.#holders.delete(key);
    }
  }

  /** The state that a failed plan started from is the latest again, unless it is settled by now. */
  #forget(row: string, state: ChainedState): void {
    if (this.#holders.size > 0) this.#release(row, state.model);
    if (this.#latest.get(row) === state) {
      let { before } = state;
      while (before !== undefined && before.pending.state !== 'pending') before = before.before;
      if (before === undefined) this.#latest.delete(row);
      else this.#latest.set(row, before);
    }
    // An applied state depends only on applied ones, so no read returns an older state.
    if (state.pending.state === 'applied') state.before = undefined;
  }
}
