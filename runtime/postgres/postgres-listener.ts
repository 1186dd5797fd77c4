import pg from 'pg';
import { loopTime } from '../concurrency/loop-time.js';
import { type Timer, time } from '../concurrency/time.js';
import type { ReservedConnection } from '../sharding/pooled-database.js';
import type {
  NotificationListener,
  NotificationSubscription,
  Statement,
} from '../sharding/shard-database.js';
import type { PostgresConnection } from './postgres-connection.js';

/** Interval of probes that detect a half-open connection, on which no notification would arrive, in milliseconds. */
const PROBE_INTERVAL_MS = 10_000;
const PROBE_TIMEOUT_MS = 5_000;

/** A connection of the pool that is used only for listening. */
export class PostgresListener implements NotificationSubscription {
  readonly #reserved: ReservedConnection<PostgresConnection>;
  readonly #timer: Timer;

  private constructor(reserved: ReservedConnection<PostgresConnection>) {
    this.#reserved = reserved;
    this.#timer = time.setInterval(() => void this.#probe(), PROBE_INTERVAL_MS).unref();
  }

  /** Releases the connection if opening fails. @throws DriverFailure */
  static async open(
    reserved: ReservedConnection<PostgresConnection>,
    channel: string,
    listener: NotificationListener,
  ): Promise<PostgresListener> {
    const subscription = new PostgresListener(reserved);
    reserved.connection.notify(listener);
    try {
      await subscription.#run({ text: `LISTEN ${pg.escapeIdentifier(channel)}`, values: [] });
    } catch (error) {
      await subscription.close();
      throw error;
    }
    return subscription;
  }

  async close(): Promise<void> {
    time.clearInterval(this.#timer);
    this.#reserved.connection.notify(undefined);
    await this.#reserved.close();
  }

  async #probe(): Promise<void> {
    try {
      await this.#run({ text: 'SELECT 1', values: [] });
    } catch {
      // The connection is lost, and the listener was notified.
      time.clearInterval(this.#timer);
    }
  }

  async #run(statement: Statement): Promise<void> {
    const cancel = loopTime.after(PROBE_TIMEOUT_MS, () => this.#reserved.connection.expire());
    try {
      await this.#reserved.connection.run(statement, { deadlineAt: time.nowMs() + PROBE_TIMEOUT_MS });
    } finally {
      cancel();
    }
  }
}
