/**
 * One sealed plan whose outcome others may depend on: they have read its staged state, which is not committed yet.
 * Pending until its own execution knows the outcome.
 */
export class PendingPlan {
  #state: 'pending' | 'applied' | 'failed' = 'pending';
  #listeners: (() => void)[] | undefined;

  get state(): 'pending' | 'applied' | 'failed' {
    return this.#state;
  }

  /** Only the first call counts. */
  settle(applied: boolean): void {
    if (this.#state !== 'pending') return;
    this.#state = applied ? 'applied' : 'failed';
    const listeners = this.#listeners;
    this.#listeners = undefined;
    if (listeners !== undefined) for (const listener of listeners) listener();
  }

  /** Calls back once the pending plan is settled; at once if it is. */
  onSettled(listener: () => void): void {
    if (this.#state !== 'pending') listener();
    else if (this.#listeners === undefined) this.#listeners = [listener];
    else this.#listeners.push(listener);
  }
}

/** Waits until every pending plan is settled. True if all of them were applied. */
export async function allApplied(dependencies: Iterable<PendingPlan>): Promise<boolean> {
  let applied = true;
  for (const pending of dependencies) {
    if (pending.state === 'pending') await new Promise<void>((resolve) => pending.onSettled(resolve));
    applied &&= pending.state === 'applied';
  }
  return applied;
}
