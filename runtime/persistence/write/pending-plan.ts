/**
 * A sealed plan on whose outcome other plans may depend, because they have read its staged, uncommitted state. Pending
 * until its own execution knows the outcome.
 */
export class PendingPlan {
  #state: 'pending' | 'applied' | 'failed' = 'pending';
  #listeners: (() => void)[] | undefined;

  get state(): 'pending' | 'applied' | 'failed' {
    return this.#state;
  }

  /** Calls after the first have no effect. */
  settle(applied: boolean): void {
    if (this.#state !== 'pending') return;
    this.#state = applied ? 'applied' : 'failed';
    const listeners = this.#listeners;
    this.#listeners = undefined;
    if (listeners !== undefined) for (const listener of listeners) listener();
  }

  /** Calls back when the plan is settled; at once if it already is. */
  onSettled(listener: () => void): void {
    if (this.#state !== 'pending') listener();
    else if (this.#listeners === undefined) this.#listeners = [listener];
    else this.#listeners.push(listener);
  }
}

/** Waits until all these plans are settled. True if all of them were applied. */
export async function allApplied(dependencies: Iterable<PendingPlan>): Promise<boolean> {
  let applied = true;
  for (const pending of dependencies) {
    if (pending.state === 'pending') await new Promise<void>((resolve) => pending.onSettled(resolve));
    applied &&= pending.state === 'applied';
  }
  return applied;
}
