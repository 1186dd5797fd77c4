import type { ModelDescriptor } from '../../domain/entity.js';
import type { PlanGroup } from './plan-group.js';
import type { QueuedPlan, TouchedRow } from './queued-plan.js';

const NONE: readonly QueuedPlan[] = [];

/** The `folding` option of the model, regardless of its table. */
export function isDeclaredFoldable({ folding }: ModelDescriptor): boolean {
  return folding !== false;
}

/** A set of rows, as `model/id`. */
export interface Rows {
  has(row: string): boolean;
}

interface LastTouch {
  readonly entry: QueuedPlan;
  readonly touch: TouchedRow;
}

/**
 * Composes one statement from waiting plans. Plans that depend on one another form one group. Two groups never touch
 * the same row, unless both only expect the same version of it. Within a group, a plan may change a row again if it
 * depends on the previous change.
 */
export class BatchBuilder {
  readonly #busyRows: Rows;
  readonly #isFoldable: (model: ModelDescriptor) => boolean;
  readonly #groupOf = new Map<QueuedPlan, QueuedPlan[]>();
  readonly #byPending = new Map<object, QueuedPlan>();
  readonly #lastTouch = new Map<string, LastTouch>();

  /**
   * @param busyRows rows that statements in flight touch
   * @param isFoldable whether several changes of such a row may be written as one; called only for a row with several
   * changes
   */
  constructor(busyRows: Rows, isFoldable: (model: ModelDescriptor) => boolean = isDeclaredFoldable) {
    this.#busyRows = busyRows;
    this.#isFoldable = isFoldable;
  }

  /** Number of plans so far. */
  get size(): number {
    return this.#groupOf.size;
  }

  get groups(): readonly PlanGroup[] {
    return [...new Set(this.#groupOf.values())];
  }

  /** Adds the plan unless it must wait for a row, or for a pending plan outside this batch. */
  tryAdd(entry: QueuedPlan): boolean {
    const partners = this.#partners(entry);
    if (partners === undefined || !entry.touches.every((touch) => this.#isFree(touch, entry))) return false;
    this.#join(entry, partners);
    this.#byPending.set(entry.pending, entry);
    for (const touch of entry.touches) this.#lastTouch.set(touch.row, { entry, touch });
    return true;
  }

  /** Plans of this batch that the entry depends on; undefined if it depends on a pending plan outside the batch. */
  #partners(entry: QueuedPlan): readonly QueuedPlan[] | undefined {
    if (entry.dependsOn.length === 0) return NONE;
    const partners: QueuedPlan[] = [];
    for (const pending of entry.dependsOn) {
      if (pending.state === 'applied') continue;
      const partner = this.#byPending.get(pending);
      if (partner === undefined) return undefined;
      partners.push(partner);
    }
    return partners;
  }

  #isFree(touch: TouchedRow, entry: QueuedPlan): boolean {
    if (this.#busyRows.has(touch.row)) return false;
    const last = this.#lastTouch.get(touch.row);
    if (last === undefined) return true;
    // Several plans may expect the same version of a row, because none of them changes it.
    if (touch.kind === 'expect' && last.touch.kind === 'expect') return touch.from === last.touch.from;
    const follows = touch.kind === 'update' && last.touch.kind !== 'expect' && last.touch.to === touch.from;
    return follows && this.#isFoldable(touch.model) && entry.dependsOn.includes(last.entry.pending);
  }

  #join(entry: QueuedPlan, partners: readonly QueuedPlan[]): void {
    if (partners.length === 0) {
      this.#groupOf.set(entry, [entry]);
      return;
    }
    const groups = new Set(partners.map((partner) => this.#groupOf.get(partner) ?? [partner]));
    const [group = []] = groups;
    for (const other of groups) if (other !== group) this.#merge(other, group);
    group.push(entry);
    this.#groupOf.set(entry, group);
  }

  /** Merges groups on which one plan depends. They do not depend on each other, so their order is free. */
  #merge(from: readonly QueuedPlan[], into: QueuedPlan[]): void {
    for (const member of from) {
      into.push(member);
      this.#groupOf.set(member, into);
    }
  }
}
