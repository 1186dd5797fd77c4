import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ApiKeyStore, fixedPrincipal, type RunningServer } from 'fw-actions/http';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { startServer } from '../generated/server.js';

export const ANAS = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';
export const BOBS = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a11';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Differences from a token that the server accepts. */
export interface Signing {
  readonly key?: CryptoKey | Uint8Array;
  /** Fields of the protected header. */
  readonly header?: { readonly alg?: string; readonly kid?: string; readonly [member: string]: unknown };
  /** Claims that replace those of the issuer; undefined ones are left out. */
  readonly claims?: { readonly [claim: string]: unknown };
  /** Seconds until it expires. */
  readonly expires?: number;
}

export interface Call {
  readonly token?: string | undefined;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

interface Parts {
  readonly pair: { readonly privateKey: CryptoKey; readonly publicKey: CryptoKey };
  readonly directory: string;
  readonly config: string;
  readonly issuer: Server;
  readonly server: RunningServer;
}

/** The issuer, its keys, and the wallet with `fw.config.secure.yaml`, on in-memory databases. */
export class SecuredWallet {
  /** A wallet of Ana in Mexico, with 100 MXN. */
  anasWallet = '';
  /** A wallet of Bob in Mexico, with 5 MXN. */
  bobsWallet = '';
  /** A transfer between wallets of Ana. */
  anasTransfer = '';
  readonly config: string;
  readonly publicKey: CryptoKey;
  readonly server: RunningServer;
  readonly keys: ApiKeyStore;
  readonly #parts: Parts;

  private constructor(parts: Parts) {
    this.config = parts.config;
    this.publicKey = parts.pair.publicKey;
    this.server = parts.server;
    const { databases } = parts.server.application;
    this.keys = new ApiKeyStore(databases.database(databases.defaultShard));
    this.#parts = parts;
  }

  static async start(): Promise<SecuredWallet> {
    const pair = await generateKeyPair('RS256', { extractable: true });
    const keys = [{ ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'RS256' }];
    const issuer = createServer((_, response) => response.end(JSON.stringify({ keys })));
    await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', resolve));
    const { port } = issuer.address() as AddressInfo;
    const directory = mkdtempSync(join(tmpdir(), 'fw-access-'));
    const yaml = readFileSync(fileURLToPath(new URL('../fw.config.secure.yaml', import.meta.url)), 'utf8');
    const config = join(directory, 'fw.config.yaml');
    // A rate so low that even a slow machine exceeds it.
    const slow = yaml.replace('requests-per-second: 50', 'requests-per-second: 5');
    writeFileSync(config, slow.replaceAll(/jdbc:pglite:file:.*\/secure-(\w+)/g, 'jdbc:pglite:mem:secure-$1'));
    const server = await startServer({
      // The configuration takes precedence.
      authenticator: fixedPrincipal('everyone', { role: 'operator' }),
      argv: ['--config', config, '--port', '0'],
      env: { ISSUER: 'https://issuer.test/', JWKS_URL: `http://127.0.0.1:${port}/keys` },
      log: { info: () => {}, warn: () => {}, error: () => {} },
      deliver: false,
    });
    const wallet = new SecuredWallet({ pair, directory, config, issuer, server });
    await wallet.#open();
    return wallet;
  }

  async close(): Promise<void> {
    await this.server.close();
    this.#parts.issuer.close();
    rmSync(this.#parts.directory, { recursive: true, force: true });
  }

  token(
    subject: string,
    claims: object = {},
    { key = this.#parts.pair.privateKey, header, claims: other, expires = 60 }: Signing = {},
  ): Promise<string> {
    const payload = {
      ...{ iss: 'https://issuer.test/', aud: 'wallet', sub: subject, region: 'mexico' },
      exp: Math.floor(Date.now() / 1_000) + expires,
      ...claims,
      ...other,
    };
    return new SignJWT(payload)
      .setProtectedHeader({ alg: 'RS256', kid: 'one', ...header })
      .sign(key, header?.['crit'] === undefined ? {} : { crit: { shop: true } });
  }

  ana(signing?: Signing): Promise<string> {
    return this.token('ana', { owner: ANAS }, signing);
  }

  bob(): Promise<string> {
    return this.token('bob', { owner: BOBS });
  }

  /** An API key of a caller with Ana's rights. */
  anasKey(expiresDate?: Date): Promise<string> {
    const claims = { owner: ANAS, region: 'mexico' };
    return this.keys.create({ principal: 'job', claims, ...(expiresDate && { expiresDate }) });
  }

  call(method: string, path: string, { token, body, headers = {} }: Call = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const all = {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      };
      const sent = request(this.server.url + path, { method, headers: all, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const { statusCode: status = 0, headers: answered } = response;
          resolve({ status, headers: answered, body: text === '' ? {} : JSON.parse(text) });
        });
      });
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  /** Reads Ana's wallet. */
  get(token: string | undefined, headers: Call['headers'] = {}): Promise<Answer> {
    return this.call('GET', `/wallets/${this.anasWallet}`, { token, headers });
  }

  /** Withdraws money from Ana's wallet. */
  withdraw(token: string, key: string): Promise<Answer> {
    const headers = { 'idempotency-key': key };
    return this.call('POST', `/wallets/${this.anasWallet}/withdraw`, {
      token,
      body: { amount: '1' },
      headers,
    });
  }

  async #open(): Promise<void> {
    const open = async (token: string, ownerId: string, initialBalance: string): Promise<string> => {
      const body = { country: 'MX', ownerId, currency: 'MXN', initialBalance };
      const { status, body: opened } = await this.call('POST', '/wallets', { token, body });
      if (status !== 201) throw new Error(JSON.stringify(opened));
      return String(opened['id']);
    };
    const ana = await this.ana();
    this.anasWallet = await open(ana, ANAS, '100');
    this.bobsWallet = await open(await this.bob(), BOBS, '5');
    const transfer = { sourceId: this.anasWallet, destinationId: await open(ana, ANAS, '0'), amount: '1' };
    const { body } = await this.call('POST', '/transfers', { token: ana, body: transfer });
    this.anasTransfer = String(body['id']);
  }
}
