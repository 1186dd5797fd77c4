import { createRemoteJWKSet, customFetch, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { time } from '../concurrency/time.js';
import { IssuerUnavailableError, messageOf } from '../errors.js';

/** Loads a JSON Web Key Set. */
export type LoadKeys = (signal: AbortSignal) => Promise<JSONWebKeySet>;

/** Time limits of keys. */
export interface KeyTimes {
  /** Age at which keys are loaded again, in milliseconds. Default 600,000. */
  readonly refreshMs: number;
  /** Age at which keys are no longer used, even if the issuer does not answer, in milliseconds. Default 3,600,000. */
  readonly keepMs: number;
  /** Minimum time between two loads that unknown keys cause, in milliseconds. Default 10,000. */
  readonly cooldownMs: number;
  /** Time limit of one load, in milliseconds. Default 3,000. */
  readonly timeoutMs: number;
}

/** Minimum time from a failed load to the next one, in milliseconds. */
const PAUSE_MS = 1_000;

type FindKey = (...request: Parameters<JWTVerifyGetKey>) => ReturnType<JWTVerifyGetKey>;

/**
 * The current keys of an issuer. An unknown key causes another request to the issuer, so keys may change at any time.
 * While the issuer is unavailable, the last keys are used for a limited time. `jose` loads and selects keys; their ages
 * are ours, because `jose` would refuse its last keys once a load fails.
 */
export class IssuerKeys {
  readonly #times: KeyTimes;
  readonly #keys: ReturnType<typeof createRemoteJWKSet>;
  /** Text of the current key set. */
  #set: string | undefined;
  /** Changes with each key set that differs from the previous one. */
  #version = 0;
  /** Time at which the current keys were loaded. */
  #loadedMs = Number.NEGATIVE_INFINITY;
  /** The last load, if it failed. */
  #failure: { readonly error: IssuerUnavailableError; readonly atMs: number } | undefined;

  constructor(
    load: LoadKeys,
    {
      refreshMs = 600_000,
      keepMs = 3_600_000,
      cooldownMs = 10_000,
      timeoutMs = 3_000,
    }: Partial<KeyTimes> = {},
  ) {
    this.#times = { refreshMs, keepMs, cooldownMs, timeoutMs };
    // The URL is that of `load`.
    this.#keys = createRemoteJWKSet(new URL('https://issuer.invalid'), {
      timeoutDuration: timeoutMs,
      cacheMaxAge: Number.POSITIVE_INFINITY,
      cooldownDuration: Number.POSITIVE_INFINITY,
      [customFetch]: async (_url, { signal }) => Response.json(await load(signal)),
    });
  }

  /**
   * Changes with the keys, so that results which depend on them can be cached. Undefined if no keys may be used. Starts
   * a load in the background if the keys are old.
   */
  version(): number | undefined {
    const { refreshMs, keepMs } = this.#times;
    const age = time.nowMs() - this.#loadedMs;
    if (age >= keepMs) return undefined;
    if (age >= refreshMs && !this.#keys.reloading && this.#pausing === undefined)
      void this.#reload().catch(() => {});
    return this.#version;
  }

  /** The key that a token names. @throws IssuerUnavailableError if no keys may be used */
  readonly find: FindKey = async (header, token) => {
    if (this.version() === undefined) await this.#reload();
    try {
      return await this.#keys(header, token);
    } catch (error) {
      const mayBeNew = this.#keys.reloading || time.nowMs() - this.#loadedMs >= this.#times.cooldownMs;
      if (!(error instanceof errors.JWKSNoMatchingKey && mayBeNew)) throw error;
      await this.#reload();
      return this.#keys(header, token);
    }
  };

  /** The failure after which the issuer is not queried yet. */
  get #pausing(): IssuerUnavailableError | undefined {
    const { error, atMs = 0 } = this.#failure ?? {};
    return time.nowMs() - atMs < PAUSE_MS ? error : undefined;
  }

  /** One load at a time serves all waiting requests. A failed load is not repeated at once. */
  async #reload(): Promise<void> {
    if (this.#pausing !== undefined) throw this.#pausing;
    try {
      await this.#keys.reload();
    } catch (cause) {
      const message = `The keys of the issuer cannot be loaded: ${messageOf(cause)}`;
      const error = new IssuerUnavailableError(message, { cause });
      this.#failure = { error, atMs: time.nowMs() };
      throw error;
    }
    this.#failure = undefined;
    this.#loadedMs = time.nowMs();
    const set = JSON.stringify(this.#keys.jwks());
    if (set !== this.#set) this.#version += 1;
    this.#set = set;
  }
}
