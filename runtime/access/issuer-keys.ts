import { createRemoteJWKSet, customFetch, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { time } from '../concurrency/time.js';
import { IssuerUnavailableError, messageOf } from '../errors.js';

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
/** Time beyond that of a load in which old keys are used while they are loaded again, in milliseconds. */
const GRACE_MS = 2_000;

/** The current keys of an issuer. */
export interface IssuerKeys {
  /**
   * Changes with the keys, so that results which depend on them can be cached. Undefined if no keys may be used without
   * a load. Starts a load in the background if the keys are old.
   */
  version(): number | undefined;
  /** The key that a token names. @throws IssuerUnavailableError if no keys may be used */
  find(...request: Parameters<JWTVerifyGetKey>): ReturnType<JWTVerifyGetKey>;
}

/**
 * An unknown key causes another request to the issuer, so keys may change at any time. While the issuer is unavailable,
 * the last keys are used for a limited time. `jose` loads and selects keys; their ages are ours, because `jose` would
 * refuse its last keys once a load fails.
 */
export function issuerKeys(
  load: (signal: AbortSignal) => Promise<JSONWebKeySet>,
  times: Partial<KeyTimes> = {},
): IssuerKeys {
  const { refreshMs = 600_000, keepMs = 3_600_000, cooldownMs = 10_000, timeoutMs = 3_000 } = times;
  // The URL is that of `load`.
  const keys = createRemoteJWKSet(new URL('https://issuer.invalid'), {
    timeoutDuration: timeoutMs,
    cacheMaxAge: Number.POSITIVE_INFINITY,
    cooldownDuration: Number.POSITIVE_INFINITY,
    [customFetch]: async (_url, { signal }) => Response.json(await load(signal)),
  });
  let [set, version, loadedMs] = ['', 0, Number.NEGATIVE_INFINITY];
  /** The last load, if it failed. */
  let failure: { readonly error: IssuerUnavailableError; readonly atMs: number } | undefined;

  const ageMs = (): number => time.nowMs() - loadedMs;
  const isPausing = (): boolean => failure !== undefined && time.nowMs() - failure.atMs < PAUSE_MS;

  /** One load at a time serves all waiting requests. A failed load is not repeated at once. */
  const reload = async (): Promise<void> => {
    if (failure !== undefined && isPausing()) throw failure.error;
    try {
      await keys.reload();
    } catch (cause) {
      const message = `The keys of the issuer cannot be loaded: ${messageOf(cause)}`;
      failure = { error: new IssuerUnavailableError(message, { cause }), atMs: time.nowMs() };
      throw failure.error;
    }
    failure = undefined;
    loadedMs = time.nowMs();
    const loaded = JSON.stringify(keys.jwks());
    if (loaded !== set) version += 1;
    set = loaded;
  };

  const current = (): number | undefined => {
    if (ageMs() >= keepMs) return undefined;
    if (ageMs() < refreshMs) return version;
    // After a quiet time the keys may be much older, although the issuer answers: then requests wait for a load.
    const quietMs = time.nowMs() - Math.max(loadedMs + refreshMs, failure?.atMs ?? 0);
    if (quietMs > timeoutMs + GRACE_MS) return undefined;
    if (!keys.reloading && !isPausing()) void reload().catch(() => {});
    return version;
  };

  return {
    version: current,
    find: async (header, token) => {
      if (current() === undefined)
        await reload().catch((error: unknown) => {
          if (ageMs() >= keepMs) throw error;
        });
      try {
        return await keys(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        const retryAfterMs = cooldownMs - ageMs();
        // The key may be newer than the last load, so the token is neither valid nor invalid.
        if (!keys.reloading && retryAfterMs > 0)
          throw new IssuerUnavailableError('The token names an unknown key', { retryAfterMs });
        await reload();
        return keys(header, token);
      }
    },
  };
}
