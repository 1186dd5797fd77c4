import type { StagedItem } from '../action/action-plan.js';
import type { Entity } from '../domain/entity.js';
import type { Link } from '../persistence/link.js';

/** A staged state that is not committed yet. */
export interface StagedState {
  readonly model: Entity;
  readonly link: Link;
}

/**
 * The latest staged states of sealed plans in this process, by `model/id`. No cache: a state is here only between the
 * sealing of its plan and the moment when the plan's outcome is known.
 */
export class StagedStates {
  readonly #latest = new Map<string, StagedState>();

  get(modelName: string, id: string): StagedState | undefined {
    return this.#latest.size === 0 ? undefined : this.#latest.get(`${modelName}/${id}`);
  }

  /** Whether a sealed plan has moved on from what this item starts from. */
  isOutrun(item: StagedItem): boolean {
    if (item.kind === 'add') return false;
    const latest = this.get(item.descriptor.name, item.model.id.getValue());
    return latest !== undefined && latest.model.version !== item.expectedVersion;
  }

  /** Shows the changes of a sealed plan until its link is settled. */
  publish(items: readonly StagedItem[], link: Link): void {
    const keys: string[] = [];
    for (const { kind, descriptor, model } of items) {
      if (kind === 'expect' || descriptor.chaining === false) continue;
      const key = `${descriptor.name}/${model.id.getValue()}`;
      this.#latest.set(key, { model, link });
      keys.push(key);
    }
    link.onSettled(() => {
      for (const key of keys) if (this.#latest.get(key)?.link === link) this.#latest.delete(key);
    });
  }

  /** Links of all sealed plans whose outcome is not known yet. */
  pendingLinks(): ReadonlySet<Link> {
    return new Set([...this.#latest.values()].map(({ link }) => link));
  }
}
