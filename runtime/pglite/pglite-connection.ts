import type { RunnableConnection, RunOptions } from '../sharding/pooled-connection.js';
import type { Rows, Statement } from '../sharding/shard-database.js';
import type { PgliteEngine } from './pglite-engine.js';

/**
 * The only session of an embedded database. A running statement cannot be interrupted, so deadlines do not apply: it
 * ends, and its outcome is known.
 */
export class PgliteConnection implements RunnableConnection<PgliteConnection> {
  readonly deadlineAt: number = Number.POSITIVE_INFINITY;
  readonly #engine: PgliteEngine;
  #usable = true;

  /** @param engine cleared of a previous session's state */
  constructor(engine: PgliteEngine) {
    this.#engine = engine;
  }

  get usable(): boolean {
    return this.#usable && !this.#engine.broken;
  }

  get inTransaction(): boolean {
    return this.#engine.inTransaction;
  }

  async run(statement: Statement, options: RunOptions<PgliteConnection>): Promise<Rows> {
    try {
      const rows = await this.#engine.run(statement);
      if (options.release !== undefined && this.inTransaction) {
        this.destroy();
        throw new TypeError('A statement outside of a session must not open a transaction');
      }
      return rows;
    } finally {
      options.release?.(this);
    }
  }

  async script(sql: string, options: RunOptions<PgliteConnection>): Promise<Rows> {
    try {
      return await this.#engine.script(sql);
    } finally {
      options.release?.(this);
    }
  }

  expire(): void {}

  close(): Promise<void> {
    this.destroy();
    return Promise.resolve();
  }

  /** The engine stays open; it is cleared before the next session begins. */
  destroy(): undefined {
    this.#usable = false;
    return undefined;
  }
}
