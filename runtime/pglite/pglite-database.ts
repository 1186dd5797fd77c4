import type { DatabaseUrl, DataSourceConfig } from '../config/types.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { AdapterOptions } from '../sharding/database-adapter.js';
import { PooledDatabase } from '../sharding/pooled-database.js';
import { EngineHome, type HomeOptions } from './engine-home.js';
import type { OperatorsSession } from './operators-socket.js';
import { PgliteConnection } from './pglite-connection.js';

/**
 * A shard in this process, in a directory or in memory. It has one session, which callers use in turn. The directory
 * is locked while the database is open.
 */
export class PgliteDatabase extends PooledDatabase<PgliteConnection> {
  readonly #home: EngineHome;

  constructor(
    shard: ShardIdentifier,
    url: Extract<DatabaseUrl, { readonly kind: 'pglite' }>,
    dataSource: DataSourceConfig,
    options: Pick<HomeOptions, 'warn' | 'use'> & Pick<AdapterOptions, 'serverInDoubt'>,
  ) {
    const directory = url.storage === 'file' ? url.location : undefined;
    const home = new EngineHome({ ...options, directory, take: () => this.#forOperators() });
    super({
      shard,
      kind: 'pglite',
      description: `pglite:${url.storage}:${url.location}`,
      limits: {
        maximumPoolSize: 1,
        idleTimeoutMs: Number.POSITIVE_INFINITY,
        maximumLifetimeMs: Number.POSITIVE_INFINITY,
        statementTimeoutMs: dataSource.statementTimeoutMs,
      },
      serverInDoubt: options.serverInDoubt,
      open: async () => new PgliteConnection(await home.cleanEngine()),
      closed: () => home.close(),
    });
    this.#home = home;
  }

  /** The session for a command of another process, once the statements of this process release it. */
  async #forOperators(): Promise<OperatorsSession> {
    const session = await this.acquire({ timeoutMs: OPERATORS_WAIT_MS });
    return {
      exchange: (messages) => this.#home.exchange(messages),
      isNeeded: async () =>
        this.#home.inTransaction || (await session.query(HELD_LOCKS)).rows[0]?.[0] === true,
      // Destroyed, not released: the command's state must not affect the next caller.
      end: () => session.destroy(),
    };
  }
}

/** Time limit for a command to get the session, in milliseconds. */
const OPERATORS_WAIT_MS = 10_000;
/** Locks of the session, which migrations hold over several transactions. */
const HELD_LOCKS = {
  text: "select exists (select from pg_catalog.pg_locks where locktype = 'advisory')",
  values: [],
};
