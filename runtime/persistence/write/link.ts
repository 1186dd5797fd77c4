/**
 * One sealed plan whose outcome others may rest on: they have read its staged state, which is not committed yet.
 * Pending until its own execution knows the truth.
 */
export class Link {
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

  /** Calls back once the link is settled; at once if it is. */
  onSettled(listener: () => void): void {
    if (this.#state !== 'pending') listener();
    else if (this.#listeners === undefined) this.#listeners = [listener];
    else this.#listeners.push(listener);
  }
}

/** Waits until every link is settled. True if all of them were applied. */
export async function allApplied(links: Iterable<Link>): Promise<boolean> {
  let applied = true;
  for (const link of links) {
    if (link.state === 'pending') await new Promise<void>((resolve) => link.onSettled(resolve));
    applied &&= link.state === 'applied';
  }
  return applied;
}
