import type { ShardSession } from '../sharding/shard-database.js';

/** A session that migrates a database: its statements may take long. */
export class MigratingSession implements Pick<ShardSession, 'query' | 'script'> {
  /** Time limit of each statement, in milliseconds. */
  readonly timeoutMs: number;
  /** SQL that every script begins with. */
  prologue = '';
  readonly #session: ShardSession;

  constructor(session: ShardSession, timeoutMs: number) {
    this.#session = session;
    this.timeoutMs = timeoutMs;
  }

  query(...[statement]: Parameters<ShardSession['query']>): ReturnType<ShardSession['query']> {
    return this.#session.query(statement, { timeoutMs: this.timeoutMs });
  }

  script(sql: string): Promise<void> {
    return this.#session.script(`${this.prologue}${sql}`, { timeoutMs: this.timeoutMs });
  }
}
