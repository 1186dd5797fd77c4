import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { JsonObject } from '../domain/json.js';
import { type Claims, principalOf } from '../domain/principal.js';
import { ValidationError } from '../errors.js';
import { BatchReader } from '../persistence/read/batch-reader.js';
import type { CallOptions, ShardDatabase } from '../sharding/shard-database.js';

/** An API key, without its secret. */
export interface ApiKey {
  /** Identifies the key: its part before the secret. */
  readonly prefix: string;
  /** Name of its principal. */
  readonly principal: string;
  /** Claims of its principal, including `scopes`. */
  readonly claims: Claims;
  /** The key's purpose, for operators. */
  readonly note: string | undefined;
  readonly createdDate: Date;
  /** The key is refused from this time on. */
  readonly expiresDate: Date | undefined;
  /** The key has been refused since this time. */
  readonly revokedDate: Date | undefined;
}

/** The properties of a new key. */
interface NewApiKey {
  readonly principal: string;
  readonly claims?: Claims;
  readonly note?: string;
  readonly expiresDate?: Date;
}

/** Prefix of every key, by which scanners for leaked secrets recognise it. */
const KIND = 'fwk_';
const KEY = /^fwk_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/;

/** Callers of all shards wait for a look-up, so a shard that hangs counts as unreachable early, in milliseconds. */
const FIND_WITHIN_MS = 1_000;

/** The prefix and the hash of a key's secret; undefined for a text that is not a key. */
export function parseApiKey(text: string): { readonly prefix: string; readonly hash: Buffer } | undefined {
  const [, prefix, secret] = KEY.exec(text) ?? [];
  if (prefix === undefined || secret === undefined) return undefined;
  // A fast hash suffices, because 256 random bits cannot be guessed from it.
  return { prefix, hash: hash('sha256', secret, 'buffer') };
}

/** Whether a text has the form of a key. */
export function isApiKey(text: string): boolean {
  return text.startsWith(KIND);
}

/** A key as it is stored. */
export interface StoredApiKey extends ApiKey {
  readonly hash: Buffer;
  /** Milliseconds until it expires, by the clock of the database; undefined: never. */
  readonly expiresInMs: number | undefined;
}

/** The API keys of an application, on its default shard. */
export class ApiKeyStore {
  readonly #database: ShardDatabase;
  /** One look-up statement runs at a time, so that requests with invented keys cannot occupy all connections. */
  readonly #reader: BatchReader<StoredApiKey>;

  constructor(database: ShardDatabase) {
    this.#database = database;
    const source = { load: this.#load.bind(this), errorOf: (failure: unknown) => failure };
    this.#reader = new BatchReader(database.shard, source, 1);
  }

  /**
   * Creates a key.
   *
   * @returns the key, which is shown only once: the database stores a hash of its secret
   * @throws ValidationError for an invalid principal or invalid claims
   */
  async create({ principal, claims = {}, note, expiresDate }: NewApiKey): Promise<string> {
    const { name, claimsJson } = principalOf({ name: principal, claims });
    if (expiresDate !== undefined && Number.isNaN(expiresDate.getTime()))
      throw new ValidationError('The expiry date is invalid');
    const prefix = randomBytes(8).toString('hex');
    const secret = randomBytes(32).toString('base64url');
    const expiry = expiresDate?.toISOString() ?? null;
    const values = [prefix, hash('sha256', secret), name, claimsJson ?? '{}', note ?? null, expiry];
    await this.#database.query({ text: INSERT, values });
    return `${KIND}${prefix}_${secret}`;
  }

  /** All keys, newest first. */
  async list(): Promise<readonly ApiKey[]> {
    const { rows } = await this.#database.query({
      text: `${SELECT} ORDER BY created_date DESC LIMIT 1000`,
      values: [],
    });
    return rows.map(toKey).map(({ hash: _, expiresInMs: __, ...shown }) => shown);
  }

  /** Looks a key up. */
  find(prefix: string): Promise<StoredApiKey | undefined> {
    return this.#reader.read(prefix, FIND_WITHIN_MS);
  }

  async #load(prefixes: readonly string[], options: CallOptions): Promise<ReadonlyMap<string, StoredApiKey>> {
    const statement = {
      name: 'fw_api_keys',
      text: `${SELECT} WHERE prefix = ANY($1::text[])`,
      // Hexadecimal digits need no quotes.
      values: [`{${prefixes.join(',')}}`],
    };
    const { rows } = await this.#database.query(statement, options);
    return new Map(rows.map(toKey).map((key) => [key.prefix, key]));
  }

  /** Revokes a key. @returns false if there is no key with this prefix, or if it was already revoked */
  async revoke(prefix: string): Promise<boolean> {
    const { rowCount } = await this.#database.query({ text: REVOKE, values: [prefix] });
    return rowCount > 0;
  }
}

/** Whether this is the secret of the key. Takes constant time. */
export function isSecretOf(key: StoredApiKey, hash: Buffer): boolean {
  return key.hash.length === hash.length && timingSafeEqual(key.hash, hash);
}

const INSERT = `INSERT INTO eventlog.api_keys (prefix, secret_hash, principal, claims, note, expires_date)
VALUES ($1, $2, $3, $4::jsonb, $5, $6)`;

const SELECT = `SELECT prefix, secret_hash, principal, claims, note, created_date, expires_date, revoked_date,
  (extract(epoch FROM expires_date - clock_timestamp()) * 1000)::float8
FROM eventlog.api_keys`;

const REVOKE = 'UPDATE eventlog.api_keys SET revoked_date = now() WHERE prefix = $1 AND revoked_date IS NULL';

function toKey(row: readonly unknown[]): StoredApiKey {
  const [prefix, hash, principal, claims, note, created, expires, revoked, left] = row;
  return {
    prefix: String(prefix),
    hash: Buffer.from(String(hash), 'hex'),
    principal: String(principal),
    claims: claims as JsonObject,
    note: note === null ? undefined : String(note),
    createdDate: created as Date,
    expiresDate: expires === null ? undefined : (expires as Date),
    revokedDate: revoked === null ? undefined : (revoked as Date),
    expiresInMs: left === null ? undefined : Number(left),
  };
}
