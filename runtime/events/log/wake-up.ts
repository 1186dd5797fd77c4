import { outside } from '../../concurrency/outside.js';
import { sleep, time } from '../../concurrency/time.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { FailureWarnings } from './failure-warnings.js';
import { NotificationChannel } from './notification-channel.js';

/** Channel of notifications between processes about commits. */
const CHANNEL = 'fw_events';
/** Minimum interval between notifications, in milliseconds; one notification covers the commits in between. */
const NOTIFY_MS = 5;
/** If this process's own probe notification has not arrived after this time, a pooler drops notifications. */
const PROBE_MS = 2_000;

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
  readonly #channel: NotificationChannel;
  readonly #warnings: FailureWarnings;
  #trusted = false;
  #others = false;
  #notifying = false;
  #notifyAgain = false;
  #stopped = false;
  /** Counts subscriptions and losses: a check of an earlier subscription does nothing. */
  #opened = 0;

  constructor(database: ShardDatabase, limits: PollIntervals, dependencies: WakeUpDependencies) {
    this.#database = database;
    this.#limits = limits;
    this.#dependencies = dependencies;
    this.#warnings = new FailureWarnings(dependencies.warn);
    this.#channel = new NotificationChannel(database, CHANNEL, {
      onNotification: (payload) => this.#heard(payload),
      onOpen: () => this.#probe(),
      onLost: (error) => this.#lost(error),
      isNeeded: dependencies.isNeeded,
    });
  }

  /** Maximum time that a reader waits without being woken, in milliseconds. */
  get pollMs(): number {
    // Only this process uses an embedded database, and the executor reports its commits.
    const { fastPollMs, slowPollMs } = this.#limits;
    if (this.#database.kind === 'pglite') return this.#others ? fastPollMs : slowPollMs;
    return this.#trusted ? slowPollMs : fastPollMs;
  }

  /** Sets whether other processes listen. */
  othersAreThere(others: boolean): void {
    this.#others = others;
  }

  /** Starts to listen, if the adapter supports it. */
  start(): void {
    if (!this.#stopped) this.#channel.start();
  }

  /** Listens on the new connections of the database, perhaps to another server. */
  async listenAnew(): Promise<void> {
    await this.#channel.stop();
    if (this.#stopped) return;
    this.#trusted = false;
    if (this.#dependencies.isNeeded()) this.start();
    // A commit in between may have been announced on neither connection.
    this.#dependencies.wake();
  }

  /** Notifies other processes after a commit, without delaying it. */
  notifyOthers(): void {
    if (!this.#others || this.#stopped || this.#database.kind === 'pglite') return;
    if (this.#notifying) {
      this.#notifyAgain = true;
      return;
    }
    this.#notifying = true;
    void outside(() => this.#notify());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#channel.stop();
  }

  async #notify(): Promise<void> {
    do {
      this.#notifyAgain = false;
      try {
        await this.#database.query({ text: NOTIFY, name: 'fw_notify', values: [''] });
      } catch {
        // A process that gets no notification polls.
      }
      await sleep(NOTIFY_MS);
    } while (this.#notifyAgain && !this.#stopped);
    this.#notifying = false;
  }

  async #probe(): Promise<void> {
    this.#opened += 1;
    const opened = this.#opened;
    this.#warnings.succeeded();
    await this.#database.query({ text: NOTIFY, name: 'fw_notify', values: ['probe'] });
    time.setTimeout(() => this.#judge(opened), PROBE_MS).unref();
  }

  #heard(payload: string): void {
    this.#trusted = true;
    if (payload === '') this.#dependencies.wake();
  }

  /** Warns if a subscription is still open and has received nothing. */
  #judge(opened: number): void {
    if (this.#trusted || this.#stopped || this.#opened !== opened) return;
    this.#dependencies.warn(
      `Notifications do not arrive on ${this.#database.description} (a pooler in transaction mode?); ` +
        `the log is polled every ${this.#limits.fastPollMs} ms instead`,
    );
  }

  #lost(error: unknown): void {
    this.#trusted = false;
    // Any earlier probe of the lost subscription is no longer expected.
    this.#opened += 1;
    // It may fail each second for the same reason for as long as the pool is small.
    if (error === undefined) this.#warnings.succeeded();
    else this.#warnings.failed('No notifications', error);
    this.#dependencies.wake();
  }
}

const NOTIFY = `SELECT pg_notify('${CHANNEL}', $1)`;
