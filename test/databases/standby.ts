import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type PostgresServer, type ServerAddress, startPostgres } from './server.js';

/** Whether a commit on the primary waits until the standby has it on disk. */
export type ReplicationMode = 'synchronous' | 'asynchronous';

/** A server and a standby that replicates it by streaming replication. */
export interface ReplicatedServers {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  /** Resolves once the standby has replayed everything that the primary has written. */
  untilReplicated(): Promise<void>;
  /** Stops the standby at once. Commits on a synchronous primary then wait. */
  detach(): Promise<void>;
  /** Starts a detached standby, and waits until it replicates again. */
  attach(): Promise<void>;
  /**
   * Kills the primary, unless it is stopped, and promotes the standby (after starting it if detached). Commits that the
   * standby has not received are lost.
   */
  failOver(): Promise<void>;
  destroy(): Promise<void>;
}

const LONGEST_WAIT_MS = 60_000;

/**
 * Starts a primary and its standby.
 *
 * @param settings settings of both servers in addition to those of all test servers
 * @param prepare fills the primary before the standby is created
 */
export async function startReplicated(
  mode: ReplicationMode,
  settings: Readonly<Record<string, string>> = {},
  prepare: (primary: PostgresServer) => Promise<void> = () => Promise.resolve(),
): Promise<ReplicatedServers> {
  // A standby that has lost its primary reconnects at once.
  const primary = await startPostgres({ wal_retrieve_retry_interval: '100ms', ...settings });
  let standby: PostgresServer | undefined;
  try {
    await prepare(primary);
    standby = await primary.standby();
    const servers = new Servers(primary, standby, mode);
    await servers.replicate();
    return servers;
  } catch (error) {
    await standby?.destroy();
    await primary.destroy();
    throw error;
  }
}

class Servers implements ReplicatedServers {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  readonly #mode: ReplicationMode;
  #isDetached = false;

  constructor(primary: PostgresServer, standby: PostgresServer, mode: ReplicationMode) {
    this.primary = primary;
    this.standby = standby;
    this.#mode = mode;
  }

  /** A reload reaches the processes of the server one after the other, so the server is restarted instead. */
  async replicate(): Promise<void> {
    if (this.#mode === 'synchronous') {
      await this.primary.stop();
      await this.primary.start({ synchronous_standby_names: '*' });
    }
    await this.#untilFollowing();
  }

  async untilReplicated(): Promise<void> {
    const [end] = await ask(this.primary, 'select pg_current_wal_insert_lsn()::text');
    await until('the standby has replayed the log', async () => {
      const replayed = `select pg_last_wal_replay_lsn() >= '${String(end)}'::pg_lsn`;
      return (await ask(this.standby, replayed).catch(() => []))[0] === true;
    });
  }

  async detach(): Promise<void> {
    this.#isDetached = true;
    await this.standby.kill();
  }

  async attach(): Promise<void> {
    if (this.#isDetached) await this.standby.start();
    this.#isDetached = false;
    await this.#untilFollowing();
  }

  async failOver(): Promise<void> {
    await this.primary.kill();
    if (this.#isDetached) await this.standby.start();
    this.#isDetached = false;
    // Recovery may cancel a query on a standby at any time (40001).
    await until('the standby is promoted', async () => {
      const text = 'select not pg_is_in_recovery() or pg_promote(true, 60)';
      return (await ask(this.standby, text).catch(() => []))[0] === true;
    });
  }

  async destroy(): Promise<void> {
    await this.standby.destroy();
    await this.primary.destroy();
  }

  #untilFollowing(): Promise<void> {
    const wanted = this.#mode === 'synchronous' ? 'sync' : 'async';
    return until(`the standby follows (${wanted})`, async () => {
      const text = `select state || ' ' || sync_state from pg_stat_replication`;
      return (await ask(this.primary, text))[0] === `streaming ${wanted}`;
    });
  }
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + LONGEST_WAIT_MS;
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error(`Not within ${LONGEST_WAIT_MS} ms: ${what}`);
    await delay(20);
  }
}

/** The first row of a query on its own connection. */
async function ask(server: ServerAddress, text: string): Promise<readonly unknown[]> {
  const { host, port, user, password, database } = server;
  const client = new pg.Client({ host, port, user, password, database });
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows } = await client.query<unknown[]>({ text, rowMode: 'array' });
    return rows[0] ?? [];
  } finally {
    await client.end();
  }
}
