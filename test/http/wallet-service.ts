import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ShardIdentifier } from 'fw-actions';
import { fixedPrincipal, type RunningServer } from 'fw-actions/http';
import { startServer } from '../../examples/wallet/generated/server.js';
import type { HttpLimits } from '../../runtime/http/limits.js';
import { collectLog } from '../../runtime/http/test-support/collect-log.js';
import type { LogEntry } from '../../runtime/observability/logger.js';
import { type ShardPlace, writeWalletConfig } from '../customer/wallet-config.js';
import type { AdapterName } from '../databases/databases.js';
import type { ServerAddress } from '../databases/server.js';
import { cloneDatabase, dropDatabase } from '../databases/template.js';
import { ApiContract, type LiveAnswer } from './api-contract.js';

export const OWNER = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';
export const JSON_TYPE: Readonly<Record<string, string>> = { 'content-type': 'application/json' };

/** Longer than the product's, because a busy machine needs seconds for the first requests of a burst. */
const DEADLINE_MS = 60_000;

/** The parts of a request besides its method and target. */
export interface RequestParts {
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer with its body read as JSON; `{}` if it has none. */
export interface Answer extends LiveAnswer {
  readonly body: Readonly<Record<string, unknown>>;
}

/** The generated wallet, served in this process on two databases. Each answer is checked against its document. */
export class WalletService {
  /** Differences between answers and the OpenAPI document. */
  readonly violations: string[] = [];
  /** Lines of the server's log. */
  readonly log: LogEntry[];
  readonly contract: ApiContract;
  readonly server: RunningServer;
  readonly #release: () => Promise<void>;

  private constructor(
    server: RunningServer,
    contract: ApiContract,
    log: LogEntry[],
    release: () => Promise<void>,
  ) {
    this.server = server;
    this.contract = contract;
    this.log = log;
    this.#release = release;
  }

  /** Starts it on empty databases. */
  static async start(
    adapter: AdapterName,
    address: ServerAddress,
    limits: Partial<HttpLimits> = {},
  ): Promise<WalletService> {
    const directory = mkdtempSync(join(tmpdir(), 'fw-http-'));
    const places = adapter === 'pglite' ? embeddedPlaces() : await serverPlaces(address);
    const log: LogEntry[] = [];
    const server = await startServer({
      authenticator: fixedPrincipal('tester', { role: 'operator' }),
      argv: ['--config', writeWalletConfig(directory, places, DEADLINE_MS), '--port', '0'],
      schemas: fileURLToPath(new URL('../../examples/wallet/migrations/events.lock', import.meta.url)),
      log: collectLog(log),
      limits,
    });
    const release = async (): Promise<void> => {
      await places.drop();
      rmSync(directory, { recursive: true, force: true });
    };
    return new WalletService(server, await ApiContract.of(server.url), log, release);
  }

  get url(): string {
    return this.server.url;
  }

  get port(): number {
    return this.server.port;
  }

  async close(): Promise<void> {
    await this.server.close();
    await this.#release();
  }

  /** Sends a request, and records differences between its answer and the document. */
  async call(method: string, target: string, parts: RequestParts = {}): Promise<Answer> {
    const response = await fetch(this.url + target, {
      method,
      ...(parts.headers === undefined ? {} : { headers: parts.headers }),
      ...(parts.body === undefined ? {} : { body: Buffer.from(parts.body) }),
    });
    const { status, headers } = response;
    const text = await response.text();
    const live: LiveAnswer = { method, target, status, headers, text };
    for (const violation of this.contract.check(live)) {
      this.violations.push(`${method} ${target.slice(0, 80)} ${status}: ${violation}`);
    }
    return { ...live, body: text === '' ? {} : JSON.parse(text) };
  }

  post(
    target: string,
    body: string | Uint8Array,
    headers: Readonly<Record<string, string>> = JSON_TYPE,
  ): Promise<Answer> {
    return this.call('POST', target, { body, headers });
  }

  /** Opens a wallet of Mexico. Returns its id. */
  async openWallet(initialBalance = '100', country = 'MX'): Promise<string> {
    const body = JSON.stringify({ country, ownerId: OWNER, currency: 'MXN', initialBalance });
    const answer = await this.post('/wallets', body);
    if (answer.status !== 201) throw new Error(`POST /wallets answered ${answer.status}: ${answer.text}`);
    return String(answer.body['id']);
  }

  /** The stored state of a wallet, as far as callers can see it: the wallet and the number of its events. */
  async stateOf(id: string): Promise<{ readonly wallet: Answer['body']; readonly events: number }> {
    const [wallet, events] = await Promise.all([
      this.call('GET', `/wallets/${id}`),
      this.call('GET', `/wallets/${id}/events?limit=200`),
    ]);
    return { wallet: wallet.body, events: (events.body['items'] as readonly unknown[]).length };
  }
}

/** Databases for the two shards of a wallet. */
export interface Places {
  readonly global: ShardPlace;
  readonly mexico: ShardPlace;
  drop(): Promise<void>;
}

let embedded = 0;

function embeddedPlaces(): Places {
  embedded += 1;
  const place = (name: string): ShardPlace => ({ jdbcUrl: `jdbc:pglite:mem:${name}-${embedded}` });
  return { global: place('global'), mexico: place('mexico'), drop: async () => {} };
}

/** Empty databases on this server. */
export async function serverPlaces(address: ServerAddress): Promise<Places> {
  const names = await Promise.all(
    [0, 1].map((group) => emptyDatabase(address, ShardIdentifier.of(group, 0))),
  );
  const place = (database: string | undefined): ShardPlace => ({
    jdbcUrl: `jdbc:postgresql://${address.host}:${address.port}/${database}`,
    username: address.user,
    password: address.password,
  });
  const drop = async (): Promise<void> => {
    for (const name of names) await dropDatabase(address, name);
  };
  return { global: place(names[0]), mexico: place(names[1]), drop };
}

async function emptyDatabase(address: ServerAddress, shard: ShardIdentifier): Promise<string> {
  const name = `fw_test_http_${process.pid}_${shard.group}_${Date.now().toString(36)}`;
  await cloneDatabase(address, name, shard, undefined);
  return name;
}
