import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createWallet, post, type WalletBody } from '../customer/http-client.js';
import { type ServerProcess, startServerProcess } from '../customer/server-process.js';
import { type ShardPlace, writeWalletConfig } from '../customer/wallet-config.js';
import { FaultProxy } from './fault-proxy.js';
import { DATABASE, ServerWorld } from './server-world.js';
import { connectTo } from './stored-rows.js';

const OWNER = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';

/** Server processes of the built wallet on two PostgreSQL servers, the one of Mexico behind a fault proxy. */
export class HttpWorld {
  readonly servers: ServerWorld;
  /** Between the wallet and the server of Mexico. */
  readonly proxy: FaultProxy;
  readonly #directory: string;
  readonly #config: string;
  readonly #processes: ServerProcess[] = [];

  private constructor(servers: ServerWorld, proxy: FaultProxy) {
    this.servers = servers;
    this.proxy = proxy;
    this.#directory = mkdtempSync(join(tmpdir(), 'fw-faults-'));
    this.#config = writeWalletConfig(this.#directory, {
      global: this.#place(servers.global.port),
      mexico: this.#place(proxy.port),
    });
  }

  static async start(): Promise<HttpWorld> {
    const servers = await ServerWorld.start();
    return new HttpWorld(servers, await FaultProxy.start(servers.mexico));
  }

  /** Starts another process of the wallet. */
  async startProcess(): Promise<ServerProcess> {
    const started = await startServerProcess(this.#config, { DB_PASSWORD: this.servers.global.password });
    this.#processes.push(started);
    return started;
  }

  /** The number of events for this wallet on the server of Mexico. */
  async eventsOf({ id }: WalletBody): Promise<number> {
    const client = await connectTo(this.servers.mexico, DATABASE);
    try {
      return (await client.query('select from eventlog.events where model_id = $1', [id])).rowCount ?? 0;
    } finally {
      await client.end();
    }
  }

  async destroy(): Promise<void> {
    for (const { process } of this.#processes) process.kill('SIGKILL');
    await this.proxy.stop();
    await this.servers.destroy();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #place(port: number): ShardPlace {
    const { user } = this.servers.mexico;
    const jdbcUrl = `jdbc:postgresql://127.0.0.1:${port}/${DATABASE}`;
    return { jdbcUrl, username: user, password: `\${DB_PASSWORD}` };
  }
}

/** The parts of an answer that a customer sees. */
export interface Seen {
  readonly status: number;
  readonly replayed: boolean;
  readonly retryAfter: string | null;
  readonly body: WalletBody & { readonly actionId?: string; readonly code?: string };
  readonly tookMs: number;
}

/** Sends a POST, under a key if one is given. */
export async function send(url: string, body: unknown, key?: string): Promise<Seen> {
  const startedMs = performance.now();
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
  const answer = await post<Seen['body']>(url, body, headers);
  return {
    status: answer.status,
    replayed: answer.headers.get('idempotency-replayed') === 'true',
    retryAfter: answer.headers.get('retry-after'),
    body: answer.body,
    tookMs: performance.now() - startedMs,
  };
}

/** The body of a request for a new wallet. */
export function newWallet(country: string): object {
  return { country, ownerId: OWNER, currency: 'MXN', initialBalance: '100' };
}

export function openWallet(url: string, country: string): Promise<WalletBody> {
  return createWallet(url, country, OWNER);
}
