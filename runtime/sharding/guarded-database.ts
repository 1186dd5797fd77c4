import { ForwardingDatabase } from './forwarding-database.js';
import { INTERNAL_ACCESS } from './internal-access.js';
import type { CallOptions, Rows, ShardDatabase, ShardSession, Statement } from './shard-database.js';

/**
 * A database that calls a guard before each call, including calls on sessions that were opened earlier. The runtime's
 * own readers and writers pass `INTERNAL_ACCESS` and bypass the guard.
 */
export class GuardedDatabase extends ForwardingDatabase {
  readonly #guard: () => void;

  /** @param guard throws where no statement may be sent */
  constructor(database: ShardDatabase, guard: () => void) {
    super(database);
    this.#guard = guard;
  }

  override get listen(): ShardDatabase['listen'] {
    const listen = super.listen;
    if (listen === undefined) return undefined;
    return (channel, listener) => guarded(this.#guard, () => listen(channel, listener));
  }

  override query(statement: Statement, options?: CallOptions): Promise<Rows> {
    if (options?.access === INTERNAL_ACCESS) return super.query(statement, options);
    return guarded(this.#guard, () => super.query(statement, options));
  }

  override acquire(options?: CallOptions): Promise<ShardSession> {
    if (options?.access === INTERNAL_ACCESS) return super.acquire(options);
    return guarded(this.#guard, async () => {
      const session = await super.acquire(options);
      return new GuardedSession(session, this.#guard);
    });
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
