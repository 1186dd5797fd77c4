import type { StagedItem } from '../../action/action-plan.js';
import { TransientMap } from '../../collections/transient-map.js';
import { NO_SLOT, type Slotted, TransientSet } from '../../collections/transient-set.js';
import { type Entity, rowOf } from '../../domain/entity.js';
import { heldKeys } from '../../domain/natural-key.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import type { Link } from '../../persistence/write/link.js';
import { Moments } from '../contention/moments.js';

/** A staged state that is not committed yet. */
export interface StagedState {
  readonly model: Entity;
  readonly link: Link;
}

/** A state with the one that it was made from, as long as that may still have to stand in for it. */
interface ChainedState extends StagedState {
  before: ChainedState | undefined;
}

/** A sealed plan that shows states and whose outcome is not known yet. */
interface PendingPlan extends Slotted {
  readonly link: Link;
  readonly shard: ShardIdentifier;
}

/**
 * The latest staged states of sealed plans in this process, by `model/id`. No cache: a state is here only between the
 * sealing of its plan and the moment when the plan's outcome is known.
 */
export class StagedStates {
  readonly #latest = new TransientMap<ChainedState>();
  readonly #pending = new TransientSet<PendingPlan>();
  /** How many states of each row hold a natural key, by the key's name. */
  readonly #holders = new Map<string, Map<string, number>>();
  /** Those who read one model start from what the one before has staged. */
  readonly moments: Moments = new Moments();

  /** @param row its key */
  get(row: string): StagedState | undefined {
    return this.#latest.get(row);
  }

  /** The latest state of the model that holds the natural key of this name, if that is not committed yet. */
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
   * Links of other sealed plans that hold a natural key which these items will hold: they have to be settled first.
   *
   * @param keyed all items of a plan whose models have keys, if there are any @returns undefined if there are none
   */
  keyTakers(keyed: readonly StagedItem[] | undefined): readonly Link[] | undefined {
    if (keyed === undefined || this.#holders.size === 0) return undefined;
    const rows = new Set(keyed.map(({ model }) => rowOf(model)));
    const links: Link[] = [];
    for (const { kind, model } of keyed) {
      if (kind === 'expect') continue;
      for (const key of heldKeys(model)) {
        const holder = this.holderOf(key);
        if (holder !== undefined && !rows.has(rowOf(holder.model))) links.push(holder.link);
      }
    }
    return links.length === 0 ? undefined : links;
  }

  /** Whether a sealed plan has moved on from what this item starts from. */
  isOutrun(item: StagedItem): boolean {
    if (item.kind === 'add') return false;
    const latest = this.get(rowOf(item.model));
    return latest !== undefined && latest.model.version !== item.expectedVersion;
  }

  /** Shows the changes of a sealed plan, all on this shard, until its link is settled. */
  publish(items: readonly StagedItem[], link: Link, shard: ShardIdentifier): void {
    const states: ChainedState[] = [];
    for (const { kind, descriptor, model } of items) {
      if (kind === 'expect' || descriptor.chaining === false) continue;
      const row = rowOf(model);
      const state = { model, link, before: this.#latest.get(row) };
      this.#latest.set(row, state);
      if (descriptor.keys !== undefined) this.#hold(row, model);
      states.push(state);
    }
    if (states.length === 0) return;
    const pending = { link, shard, slot: NO_SLOT };
    this.#pending.add(pending);
    link.onSettled(() => {
      this.#pending.delete(pending);
      for (const state of states) this.#forget(rowOf(state.model), state);
    });
  }

  /** Links of the plans on this shard that show states and whose outcome is not known yet. */
  pendingLinks(shard: ShardIdentifier): readonly Link[] {
    return this.#pending.filter((pending) => pending.shard === shard).map(({ link }) => link);
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

  /** What a failed plan started from is the latest state again, unless it is settled by now. */
  #forget(row: string, state: ChainedState): void {
    if (this.#holders.size > 0) this.#release(row, state.model);
    if (this.#latest.get(row) === state) {
      let { before } = state;
      while (before !== undefined && before.link.state !== 'pending') before = before.before;
      if (before === undefined) this.#latest.delete(row);
      else this.#latest.set(row, before);
    }
    // An applied state rests on applied ones only: nobody goes back behind it.
    if (state.link.state === 'applied') state.before = undefined;
  }
}
