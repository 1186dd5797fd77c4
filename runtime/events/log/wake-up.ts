import { sleep, type Timer, time } from '../../concurrency/time.js';
import { messageOf } from '../../errors.js';
import type { NotificationSubscription, ShardDatabase } from '../../sharding/shard-database.js';
import type { DeliveryLimits } from '../delivery/delivery-limits.js';

/** Channel of notifications between processes about commits. */
const CHANNEL = 'fw_events';
/** Minimum interval between notifications, in milliseconds; one notification covers the commits in between. */
const NOTIFY_MS = 5;
/** If this process's own probe notification has not arrived after this time, a pooler drops notifications. */
const PROBE_MS = 2_000;
const RECONNECT_MS = 1_000;

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
  readonly #limits: DeliveryLimits;
  readonly #dependencies: WakeUpDependencies;
  #subscription: NotificationSubscription | undefined;
  #opening: Promise<void> | undefined;
  #trusted = false;
  #others = false;
  #notifying = false;
  #notifyAgain = false;
  #stopped = false;
  /** Increases with each new set of connections: later messages of the previous set are ignored. */
  #generation = 0;
  #retry: Timer | undefined;
  #lastReason: string | undefined;

  constructor(database: ShardDatabase, limits: DeliveryLimits, dependencies: WakeUpDependencies) {
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

  /** Sets whether other processes listen. */
  othersAreThere(others: boolean): void {
    this.#others = others;
  }

  /** Starts to listen, if the adapter supports it. */
  start(): void {
    if (this.#opening !== undefined || this.#stopped || this.#database.listen === undefined) return;
    this.#opening = this.#listen();
  }

  /** Listens on the new connections of the database, perhaps to another server. */
  async listenAnew(): Promise<void> {
    await this.#opening;
    if (this.#stopped) return;
    const old = this.#subscription;
    time.clearTimeout(this.#retry);
    this.#generation += 1;
    this.#trusted = false;
    this.#subscription = undefined;
    this.#opening = undefined;
    await old?.close();
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
    void this.#notify();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    time.clearTimeout(this.#retry);
    await this.#opening;
    await this.#subscription?.close();
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

  async #listen(): Promise<void> {
    const generation = this.#generation;
    const ifCurrent = (work: () => void): void => {
      if (generation === this.#generation) work();
    };
    try {
      const subscription = await this.#database.listen?.(CHANNEL, {
        onNotification: (payload) => ifCurrent(() => this.#heard(payload)),
        onLost: () => ifCurrent(() => this.#lost()),
      });
      if (subscription === undefined) return;
      if (this.#stopped) {
        await subscription.close();
        return;
      }
      this.#subscription = subscription;
      this.#lastReason = undefined;
      await this.#database.query({ text: NOTIFY, name: 'fw_notify', values: ['probe'] });
      time.setTimeout(() => this.#judge(subscription), PROBE_MS).unref();
    } catch (error) {
      const reason = messageOf(error);
      // Tried every second, it may fail for the same reason for as long as the pool is small.
      if (!this.#stopped && reason !== this.#lastReason)
        this.#dependencies.warn(`No notifications: ${reason}`);
      this.#lastReason = reason;
      this.#lost();
    }
  }

  #heard(payload: string): void {
    this.#trusted = true;
    if (payload === '') this.#dependencies.wake();
  }

  #judge(subscription: NotificationSubscription): void {
    if (this.#trusted || this.#stopped || this.#subscription !== subscription) return;
    this.#dependencies.warn(
      `Notifications do not arrive on ${this.#database.description} (a pooler in transaction mode?); ` +
        `the log is polled every ${this.#limits.fastPollMs} ms instead`,
    );
  }

  #lost(): void {
    this.#trusted = false;
    this.#subscription = undefined;
    if (this.#stopped) return;
    this.#dependencies.wake();
    this.#retry = time.setTimeout(() => {
      this.#opening = undefined;
      if (this.#dependencies.isNeeded()) this.start();
    }, RECONNECT_MS);
    this.#retry.unref();
  }
}

const NOTIFY = `SELECT pg_notify('${CHANNEL}', $1)`;
