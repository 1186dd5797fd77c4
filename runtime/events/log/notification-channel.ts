import { outside } from '../../concurrency/outside.js';
import { sleep } from '../../concurrency/time.js';
import type { NotificationSubscription, ShardDatabase } from '../../sharding/shard-database.js';

/** Pause before a lost or failed subscription is opened again, in milliseconds. */
const RECONNECT_MS = 1_000;

export interface ChannelListener {
  readonly onNotification: (payload: string) => void;
  /** Called once for each subscription that is open. It is closed and opened again if this fails. */
  readonly onOpen: () => Promise<void>;
  /** Called when a subscription was lost or could not be opened; `error` is undefined if its connection was lost. */
  readonly onLost: (error?: unknown) => void;
  /** Whether to open another subscription after a loss. */
  readonly isNeeded: () => boolean;
}

/**
 * Listens to a channel of a database, with at most one subscription: one loop opens it, waits for its end and closes
 * it before it opens another. Each subscription takes a connection of the shard's pool.
 */
export class NotificationChannel {
  readonly #database: ShardDatabase;
  readonly #channel: string;
  readonly #listener: ChannelListener;
  /** The running loop and what ends it. Undefined: nothing listens. */
  #run: { readonly abort: AbortController; readonly ended: Promise<void> } | undefined;

  constructor(database: ShardDatabase, channel: string, listener: ChannelListener) {
    this.#database = database;
    this.#channel = channel;
    this.#listener = listener;
  }

  /** Starts to listen, if the adapter supports it and it does not listen yet. */
  start(): void {
    if (this.#run !== undefined || this.#database.listen === undefined) return;
    const abort = new AbortController();
    this.#run = { abort, ended: outside(() => this.#repeat(abort.signal)) };
  }

  /** Ends the subscription. Resolves when its connection was released. */
  async stop(): Promise<void> {
    this.#run?.abort.abort();
    await this.#run?.ended;
  }

  async #repeat(signal: AbortSignal): Promise<void> {
    // `start` has to know of this run before the run may end.
    await Promise.resolve();
    do {
      await this.#listen(signal).catch((error: unknown) => this.#report(signal, error));
    } while (!signal.aborted && this.#listener.isNeeded() && (await pause(signal)));
    this.#run = undefined;
  }

  #report(signal: AbortSignal, error: unknown): void {
    if (!signal.aborted) this.#listener.onLost(error);
  }

  /** Resolves when the subscription has ended. */
  async #listen(signal: AbortSignal): Promise<void> {
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    signal.addEventListener('abort', end);
    let subscription: NotificationSubscription | undefined;
    let isOpen = true;
    try {
      subscription = await this.#database.listen?.(this.#channel, {
        onNotification: (payload) => {
          if (isOpen && !signal.aborted) this.#listener.onNotification(payload);
        },
        onLost: end,
      });
      if (signal.aborted) return;
      await this.#listener.onOpen();
      await ended;
      this.#report(signal, undefined);
    } finally {
      isOpen = false;
      signal.removeEventListener('abort', end);
      await subscription?.close();
    }
  }
}

/** @returns false if the signal ended the pause */
function pause(signal: AbortSignal): Promise<boolean> {
  return sleep(RECONNECT_MS, { signal, ref: false }).then(
    () => true,
    () => false,
  );
}
