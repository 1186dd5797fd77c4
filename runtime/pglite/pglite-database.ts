import type { DataSourceConfig, PgliteUrl } from '../config/types.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { FwError } from '../errors.js';
import { PooledDatabase } from '../sharding/pooled-database.js';
import { DirectoryLock } from './directory-lock.js';
import { openFailure } from './open-failure.js';
import { PgliteConnection } from './pglite-connection.js';
import { PgliteEngine } from './pglite-engine.js';

/** Called with what an operator should know. */
export type Warn = (message: string) => void;

/**
 * A shard in this process, in a directory or in memory. It has one session, which callers use in turn. The directory
 * is locked while the database is open.
 */
export class PgliteDatabase extends PooledDatabase<PgliteConnection> {
  constructor(shard: ShardIdentifier, url: PgliteUrl, dataSource: DataSourceConfig, warn: Warn) {
    const home = new EngineHome(url.storage === 'file' ? url.location : undefined, warn);
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
      open: async () => new PgliteConnection(await home.cleanEngine()),
      closed: () => home.close(),
    });
  }
}

/** Holds the engine, from the first session to the end, and the lock of its directory. */
class EngineHome {
  readonly #directory: string | undefined;
  readonly #warn: Warn;
  #lock: DirectoryLock | undefined;
  #engine: PgliteEngine | undefined;

  constructor(directory: string | undefined, warn: Warn) {
    this.#directory = directory;
    this.#warn = warn;
  }

  /** The engine as a new session expects it. Never called twice at a time, as the pool has one connection. */
  async cleanEngine(): Promise<PgliteEngine> {
    this.#engine = this.#engine === undefined ? await this.#start() : await this.#cleaned(this.#engine);
    return this.#engine;
  }

  async #cleaned(engine: PgliteEngine): Promise<PgliteEngine> {
    // What was committed is in the directory. In memory nothing is left to go on with.
    if (engine.broken && this.#directory !== undefined) return PgliteEngine.open(this.#directory);
    await engine.reset();
    return engine;
  }

  async close(): Promise<void> {
    try {
      await this.#engine?.close();
    } finally {
      this.#engine = undefined;
      this.#lock?.release();
    }
  }

  async #start(): Promise<PgliteEngine> {
    if (this.#directory === undefined) return PgliteEngine.open(undefined);
    this.#lock = await lock(this.#directory);
    this.#warn(
      `The embedded database in ${this.#directory} does not force its writes to disk: ` +
        'a power loss may lose acknowledged data. Use PostgreSQL where that matters.',
    );
    try {
      return await PgliteEngine.open(this.#directory);
    } catch (error) {
      this.#lock.release();
      throw error;
    }
  }
}

async function lock(directory: string): Promise<DirectoryLock> {
  try {
    return await DirectoryLock.acquire(directory);
  } catch (error) {
    throw error instanceof FwError ? error : openFailure(directory, error);
  }
}
