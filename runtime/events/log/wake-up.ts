import { onAbort } from '../../concurrency/abort-listeners.js';
import { outside } from '../../concurrency/outside.js';
import { sleep } from '../../concurrency/time.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { FailureWarnings } from './failure-warnings.js';

const CHANNEL = 'fw_events';
/** Minimum interval between notifications, in milliseconds; one notification covers the commits in between. */
const NOTIFY_MS = 5;
/** If this process's own probe notification has not arrived after this time, a pooler drops notifications. */
const PROBE_MS = 2_000;
/** Pause before a lost or failed subscription is opened again, in milliseconds. */
const RECONNECT_MS = 1_000;

/** How often the log is polled: see `DeliveryLimits`. */
export interface PollIntervals {
  readonly slowPollMs: number;
  readonly fastPollMs: number;
}

export interface WakeUpDependencies {
  readonly wake: () => void;
  /** Whether a reader of this process waits to be woken. */
  readonly isNeeded: () => boolean;
  readonly warn: (message: string) => void;
}

/**
 * Detects commits. Within a process the executor reports them. Between processes a notification does, which a separate
 * statement sends after the commit: within the commit, NOTIFY takes a lock that serializes all commits of the server.
 * Polling finds commits whose notification was lost, with a short interval where notifications are not known to arrive.
 */
export class WakeUp {
  readonly #database: ShardDatabase;
  readonly #limits: PollIntervals;
  readonly #dependencies: WakeUpDependencies;
  #trusted = false;
  #others = false;
  /** Commits since this process last had none to announce: the first one starts the notifications. */
  #commits = 0;
  #stopped = false;
  /** The loop that listens, and what ends it. Undefined: nothing listens. */
  #run: { readonly abort: AbortController; readonly ended: Promise<void> } | undefined;

  constructor(database: ShardDatabase, limits: PollIntervals, dependencies: WakeUpDependencies) {
    this.#database = database;
    this.#limits = limits;
    this.#dependencies = dependencies;
  }

  /** Maximum time that a reader waits without being woken, in milliseconds. */
  get pollMs(): number {
    // Only this process uses an embedded database, and the executor reports its commits.
    const { fastPollMs, slowPollMs } = this.#limits;
    if (this.#database.kind === 'pglite') return this.#others ? fastPollMs : slowPollMs;
    return this.#trusted ? slowPollMs : fastPollMs;
  }

  othersAreThere(others: boolean): void {
    this.#others = others;
  }

  /** Starts to listen, if the adapter supports it and it does not listen yet. */
  start(): void {
    if (this.#stopped || this.#run !== undefined || this.#database.listen === undefined) return;
    const abort = new AbortController();
    this.#run = { abort, ended: outside(() => this.#repeat(abort.signal)) };
  }

  /** Listens on the new connections of the database, perhaps to another server. */
  async listenAnew(): Promise<void> {
    await this.#stopListening();
    if (this.#stopped) return;
    if (this.#dependencies.isNeeded()) this.start();
    // A commit in between may have been announced on neither connection.
    this.#dependencies.wake();
  }

  /** Notifies other processes after a commit, without delaying it. */
  notifyOthers(): void {
    if (!this.#others || this.#stopped || this.#database.kind === 'pglite') return;
    this.#commits += 1;
    if (this.#commits === 1) void outside(() => this.#notify());
  }

  /** Resolves when the connection of the subscription was released. */
  stop(): Promise<void> {
    this.#stopped = true;
    return this.#stopListening();
  }

  async #stopListening(): Promise<void> {
    this.#run?.abort.abort();
    await this.#run?.ended;
  }

  async #notify(): Promise<void> {
    for (let announced = 0; announced < this.#commits && !this.#stopped; ) {
      announced = this.#commits;
      try {
        await this.#database.query({ text: NOTIFY, name: 'fw_notify', values: [''] });
      } catch {
        // A process that gets no notification polls.
      }
      await sleep(NOTIFY_MS);
    }
    this.#commits = 0;
  }

  /** Has at most one subscription, which takes a connection of the shard's pool: closes it before it opens another. */
  async #repeat(signal: AbortSignal): Promise<void> {
    const { isNeeded, wake, warn } = this.#dependencies;
    const warnings = new FailureWarnings(warn);
    // `start` has to know of this run before the run may end.
    await Promise.resolve();
    while (!signal.aborted && isNeeded()) {
      try {
        await this.#listen(signal);
        warnings.succeeded();
      } catch (error) {
        // It may fail each second for the same reason for as long as the pool is small.
        if (!signal.aborted) warnings.failed('No notifications', error);
      }
      this.#trusted = false;
      if (signal.aborted) break;
      wake();
      await sleep(RECONNECT_MS, { signal, ref: false }).catch(() => {});
    }
    this.#run = undefined;
  }

  /** Resolves when the subscription is lost, or the signal fires. */
  async #listen(signal: AbortSignal): Promise<void> {
    const lost = new AbortController();
    const subscription = await this.#database.listen?.(CHANNEL, {
      onNotification: (payload) => {
        this.#trusted = true;
        if (payload === '') this.#dependencies.wake();
      },
      onLost: () => lost.abort(),
    });
    try {
      const ended = AbortSignal.any([signal, lost.signal]);
      if (!ended.aborted) await this.#probe(ended);
      if (!ended.aborted) await new Promise<void>((resolve) => onAbort(ended, resolve));
    } finally {
      await subscription?.close();
    }
  }

  /** Warns if the subscription receives nothing. */
  async #probe(ended: AbortSignal): Promise<void> {
    await this.#database.query({ text: NOTIFY, name: 'fw_notify', values: ['probe'] });
    await sleep(PROBE_MS, { signal: ended, ref: false }).catch(() => {});
    if (this.#trusted || ended.aborted) return;
    this.#dependencies.warn(
      `Notifications do not arrive on ${this.#database.description} (a pooler in transaction mode?); ` +
        `the log is polled every ${this.#limits.fastPollMs} ms instead`,
    );
  }
}

const NOTIFY = `SELECT pg_notify('${CHANNEL}', $1)`;
