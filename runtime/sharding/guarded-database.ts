import { INTERNAL_ACCESS } from './internal-access.js';
import type {
  CallOptions,
  NotificationListener,
  NotificationSubscription,
  PoolStats,
  Rows,
  ShardDatabase,
  ShardSession,
  Statement,
} from './shard-database.js';

/**
 * A database that calls a guard before each call, including calls on sessions that were opened earlier. The runtime's
 * own readers and writers pass `INTERNAL_ACCESS` and bypass the guard.
 */
export class GuardedDatabase implements ShardDatabase {
  readonly #database: ShardDatabase;
  readonly #guard: () => void;

  /** @param guard throws where no statement may be sent */
  constructor(database: ShardDatabase, guard: () => void) {
    this.#database = database;
    this.#guard = guard;
  }

  get shard(): ShardDatabase['shard'] {
    return this.#database.shard;
  }

  get kind(): ShardDatabase['kind'] {
    return this.#database.kind;
  }

  get description(): string {
    return this.#database.description;
  }

  get sessionState(): boolean {
    return this.#database.sessionState;
  }

  get listen(): ShardDatabase['listen'] {
    const { listen } = this.#database;
    if (listen === undefined) return undefined;
    const open = (channel: string, listener: NotificationListener): Promise<NotificationSubscription> =>
      listen.call(this.#database, channel, listener);
    return (channel, listener) => guarded(this.#guard, () => open(channel, listener));
  }

  query(statement: Statement, options?: CallOptions): Promise<Rows> {
    if (options?.access === INTERNAL_ACCESS) return this.#database.query(statement, options);
    return guarded(this.#guard, () => this.#database.query(statement, options));
  }

  acquire(options?: CallOptions): Promise<ShardSession> {
    if (options?.access === INTERNAL_ACCESS) return this.#database.acquire(options);
    return guarded(this.#guard, async () => {
      const session = await this.#database.acquire(options);
      return new GuardedSession(session, this.#guard);
    });
  }

  stats(): PoolStats {
    return this.#database.stats();
  }

  close(graceMs?: number): Promise<void> {
    return this.#database.close(graceMs);
  }
}

class GuardedSession implements ShardSession {
  readonly #session: ShardSession;
  readonly #guard: () => void;

  constructor(session: ShardSession, guard: () => void) {
    this.#session = session;
    this.#guard = guard;
  }

  query(statement: Statement, options?: CallOptions): Promise<Rows> {
    return guarded(this.#guard, () => this.#session.query(statement, options));
  }

  script(sql: string, options?: CallOptions): Promise<void> {
    return guarded(this.#guard, () => this.#session.script(sql, options));
  }

  release(): void {
    this.#session.release();
  }

  destroy(): void {
    this.#session.destroy();
  }
}

function guarded<T>(guard: () => void, call: () => Promise<T>): Promise<T> {
  try {
    guard();
  } catch (error) {
    return Promise.reject(error);
  }
  return call();
}
