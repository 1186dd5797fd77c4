import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
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

const DEFAULT_KEY_TIMES: KeyTimes = Object.freeze({
  refreshMs: 600_000,
  keepMs: 3_600_000,
  cooldownMs: 10_000,
  timeoutMs: 3_000,
});

/** Minimum time from the start of a failed load to the next one, in milliseconds. */
const PAUSE_MS = 1_000;

type FindKey = (...request: Parameters<JWTVerifyGetKey>) => ReturnType<JWTVerifyGetKey>;

/**
 * The current keys of an issuer. An unknown key causes another request to the issuer, so keys may change at any time.
 * While the issuer is unavailable, the last keys are used for a limited time.
 */
export class IssuerKeys {
  readonly #load: LoadKeys;
  readonly #times: KeyTimes;
  #find: FindKey | undefined;
  /** Text of the current key set. */
  #set: string | undefined;
  /** Changes with each key set that differs from the previous one. */
  #version = 0;
  /** Time at which the current keys were loaded. */
  #loadedMs = Number.NEGATIVE_INFINITY;
  /** Time at which the last load was started. */
  #askedMs = Number.NEGATIVE_INFINITY;
  #loading: Promise<void> | undefined;
  /** Failure of the last load. */
  #failure: IssuerUnavailableError | undefined;

  constructor(load: LoadKeys, times: Partial<KeyTimes> = {}) {
    this.#load = load;
    this.#times = { ...DEFAULT_KEY_TIMES, ...times };
  }

  /**
   * Changes with the keys, so that results which depend on them can be cached. Undefined if no keys may be used. Starts
   * a load in the background if the keys are old.
   */
  version(): number | undefined {
    const { refreshMs, keepMs, cooldownMs } = this.#times;
    const now = time.nowMs();
    const age = now - this.#loadedMs;
    if (this.#find === undefined || age >= keepMs) return undefined;
    if (age >= refreshMs && now - this.#askedMs >= cooldownMs) void this.#refresh().catch(() => {});
    return this.#version;
  }

  /** The key that a token names. @throws IssuerUnavailableError if no keys may be used */
  readonly find: FindKey = async (header, token) => {
    if (this.version() === undefined) await this.#refresh();
    try {
      return await this.#known(header, token);
    } catch (error) {
      const mayBeNew = error instanceof errors.JWKSNoMatchingKey;
      if (!mayBeNew || time.nowMs() - this.#askedMs < this.#times.cooldownMs) throw error;
      await this.#refresh();
      return this.#known(header, token);
    }
  };

  #known(...request: Parameters<FindKey>): ReturnType<FindKey> {
    if (this.#find === undefined)
      throw new IssuerUnavailableError('The keys of the issuer have not been loaded');
    return this.#find(...request);
  }

  /** Loads the keys. One load at a time serves all waiting requests. A failed load is not repeated at once. */
  #refresh(): Promise<void> {
    const failure = this.#failure;
    if (failure !== undefined && time.nowMs() - this.#askedMs < PAUSE_MS) return Promise.reject(failure);
    this.#loading ??= this.#reload().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async #reload(): Promise<void> {
    this.#askedMs = time.nowMs();
    const abort = new AbortController();
    const timer = time.setTimeout(() => abort.abort(), this.#times.timeoutMs);
    try {
      this.#use(await this.#load(abort.signal));
      this.#loadedMs = time.nowMs();
      this.#failure = undefined;
    } catch (cause) {
      const message = `The keys of the issuer cannot be loaded: ${messageOf(cause)}`;
      this.#failure = new IssuerUnavailableError(message, { cause });
      throw this.#failure;
    } finally {
      time.clearTimeout(timer);
    }
  }

  #use(set: JSONWebKeySet): void {
    const text = JSON.stringify(set);
    if (text === this.#set) return;
    this.#find = createLocalJWKSet(set);
    this.#set = text;
    this.#version += 1;
  }
}
