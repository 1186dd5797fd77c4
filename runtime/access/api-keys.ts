import { LRUCache } from 'lru-cache';
import { time } from '../concurrency/time.js';
import { type KnownPrincipal, principalOf } from '../domain/principal.js';
import { ShardUnavailableError, UnauthenticatedError } from '../errors.js';
import { API_KEY_SCHEMES } from '../openapi/documented-access.js';
import { type ApiKeyStore, isApiKey, isSecretOf, parseApiKey, type StoredApiKey } from './api-key-store.js';
import { type Authenticator, bearerToken, CredentialMissing, type RequestHead } from './authenticator.js';

/** Options of `apiKeys`. */
interface ApiKeyOptions {
  readonly store: Pick<ApiKeyStore, 'find'>;
  /** How long a read key is cached, in milliseconds. A revocation takes effect within this time. Default 3,000. */
  readonly maximumAgeMs?: number;
  /**
   * How long a read key stays in use while the default shard cannot be reached, in milliseconds. Any other key is then
   * refused with 503. Default 3,600,000.
   */
  readonly keepMs?: number;
}

/** Time between two look-ups of a busy server beyond the age of a cached key, in milliseconds. */
const LOOK_UP_MS = 1_000;
/** Maximum cached keys. Invented prefixes are not cached. */
const MAXIMUM_KNOWN = 10_000;

/** A key that the database returned. */
interface Known {
  readonly key: StoredApiKey;
  readonly principal: KnownPrincipal;
  readonly readMs: number;
}

/**
 * Authenticates callers by an API key, created by `fw-gen keys create`: `Authorization: Bearer fwk_...` or `X-Api-Key:
 * fwk_...`.
 */
export function apiKeys({ store, maximumAgeMs = 3_000, keepMs = 3_600_000 }: ApiKeyOptions): Authenticator {
  /** Until then, no request waits for a look-up if its key is known: one has failed just now. */
  let downUntilMs = Number.NEGATIVE_INFINITY;
  const usableMs = Math.max(keepMs, maximumAgeMs);
  const known = new LRUCache<string, Known>({
    max: MAXIMUM_KNOWN,
    ttl: Math.max(1, maximumAgeMs),
    ttlResolution: 0,
    perf: { now: () => time.nowMs() },
    fetchMethod: async (prefix, kept) => {
      let key: StoredApiKey | undefined;
      try {
        key = await store.find(prefix);
        downUntilMs = Number.NEGATIVE_INFINITY;
      } catch (error) {
        downUntilMs = time.nowMs() + maximumAgeMs + LOOK_UP_MS;
        if (kept !== undefined && time.nowMs() - kept.readMs < usableMs) return kept;
        throw unavailable(error);
      }
      if (key === undefined) throw refused('is not known');
      const principal = principalOf({ name: key.principal, claims: key.claims });
      return { key, principal, readMs: time.nowMs() };
    },
  });
  const missing = new CredentialMissing('An API key is required', { challenge: 'Bearer' });

  const verify = async (text: string): Promise<KnownPrincipal> => {
    const parsed = parseApiKey(text);
    if (parsed === undefined) throw refused('is malformed');
    let found = await known.fetch(parsed.prefix, { allowStale: time.nowMs() < downUntilMs });
    if (found !== undefined && time.nowMs() - found.readMs >= usableMs)
      found = await known.fetch(parsed.prefix, { forceRefresh: true });
    // The error does not reveal whether the prefix exists.
    if (found === undefined || !isSecretOf(found.key, parsed.hash)) throw refused('is not known');
    const { key, principal, readMs } = found;
    if (key.revokedDate !== undefined) throw refused('was revoked');
    if (key.expiresInMs !== undefined && time.nowMs() - readMs >= key.expiresInMs)
      throw refused('has expired');
    return principal;
  };

  const authenticate = (request: RequestHead): Promise<KnownPrincipal> => {
    const text = keyOf(request);
    if (text === undefined) throw missing;
    return verify(text);
  };
  return Object.assign(authenticate, { schemes: API_KEY_SCHEMES });
}

function keyOf(request: RequestHead): string | undefined {
  const { 'x-api-key': header } = request.headers;
  if (header !== undefined) return String(header);
  const token = bearerToken(request);
  return token !== undefined && isApiKey(token) ? token : undefined;
}

function refused(why: string): UnauthenticatedError {
  return new UnauthenticatedError(`The API key ${why}`, { challenge: 'Bearer error="invalid_token"' });
}

/** A key that cannot be looked up is neither valid nor invalid, whatever the cause. */
function unavailable(cause: unknown): ShardUnavailableError {
  const hint = cause instanceof Error && 'retryAfterMs' in cause ? cause.retryAfterMs : undefined;
  return new ShardUnavailableError('default', 'API keys cannot be looked up', {
    cause,
    ...(typeof hint === 'number' ? { retryAfterMs: hint } : {}),
  });
}
