import pg from 'pg';
import { loopTime } from '../sharding/loop-time.js';
import type {
  NotificationListener,
  NotificationSubscription,
  Statement,
} from '../sharding/shard-database.js';
import { PostgresConnection, type PostgresConnectionOptions } from './postgres-connection.js';

/** A half-open link is found this way: nothing would ever arrive on it, and nobody would know. */
const PROBE_INTERVAL_MS = 10_000;
const PROBE_TIMEOUT_MS = 5_000;

/** A connection that does nothing but listen. */
export class PostgresListener implements NotificationSubscription {
  readonly #connection: PostgresConnection;
  readonly #timer: NodeJS.Timeout;

  private constructor(connection: PostgresConnection) {
    this.#connection = connection;
    this.#timer = setInterval(() => void this.#probe(), PROBE_INTERVAL_MS).unref();
  }

  /** @throws DriverFailure with phase `not-sent` */
  static async open(
    options: Omit<PostgresConnectionOptions, 'onLost' | 'onNotification'>,
    listener: NotificationListener,
  ): Promise<PostgresListener> {
    const { onNotification, onLost } = listener;
    return new PostgresListener(await PostgresConnection.open({ ...options, onNotification, onLost }));
  }

  async listen(channel: string): Promise<void> {
    await this.#run({ text: `LISTEN ${pg.escapeIdentifier(channel)}`, values: [] });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#connection.close();
  }

  async #probe(): Promise<void> {
    try {
      await this.#run({ text: 'SELECT 1', values: [] });
    } catch {
      // The connection is gone, and the listener was told so.
      clearInterval(this.#timer);
    }
  }

  async #run(statement: Statement): Promise<void> {
    const cancel = loopTime.after(PROBE_TIMEOUT_MS, () => this.#connection.expire());
    try {
      await this.#connection.run(statement, { deadlineAt: performance.now() + PROBE_TIMEOUT_MS });
    } finally {
      cancel();
    }
  }
}
