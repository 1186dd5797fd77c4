import { type FSWatcher, watch } from 'node:fs';

/** A file is written in several steps, so a change is reported after this quiet time, in milliseconds. */
const QUIET_MS = 10;
/** Interval of full scans, in milliseconds: events may get lost when thousands arrive at once, or on network drives. */
const POLL_MS = 1_000;

/** Reports possible changes in a set of folders. */
export class FolderWatcher {
  readonly #watchers = new Map<string, FSWatcher>();
  #timer: NodeJS.Timeout | undefined;
  #wake: (() => void) | undefined;
  #isAwake = false;

  /** Watches exactly these folders. */
  watchOnly(folders: readonly string[]): void {
    const wanted = new Set(folders);
    for (const [folder, watcher] of this.#watchers) {
      if (wanted.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of wanted) if (!this.#watchers.has(folder)) this.#add(folder);
  }

  /** Ends when something may have changed, or when the signal is given. */
  async nextChange(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    let wake = (): void => undefined;
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const poll = setTimeout(wake, POLL_MS);
    signal.addEventListener('abort', wake, { once: true });
    this.#wake = wake;
    if (this.#isAwake) wake();
    await woken;
    clearTimeout(poll);
    signal.removeEventListener('abort', wake);
    this.#isAwake = false;
    this.#wake = undefined;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.watchOnly([]);
  }

  #add(folder: string): void {
    try {
      const watcher = watch(folder, () => this.#notice());
      // The folder may be deleted while it is watched; the next scan notices.
      watcher.on('error', () => {
        watcher.close();
        this.#watchers.delete(folder);
      });
      this.#watchers.set(folder, watcher);
    } catch {
      // The folder is gone, or the system has no more watches: only scans remain.
    }
  }

  #notice(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#isAwake = true;
      this.#wake?.();
    }, QUIET_MS);
  }
}
