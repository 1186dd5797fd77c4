import { time } from '../concurrency/time.js';
import { type KnownPrincipal, principalOf } from '../domain/principal.js';
import { ShardUnavailableError, UnauthenticatedError } from '../errors.js';
import { API_KEY_SCHEMES } from '../openapi/documented-access.js';
import { type ApiKeyStore, isApiKey, isSecretOf, parseApiKey, type StoredApiKey } from './api-key-store.js';
import { type Authenticator, bearerToken, CredentialMissing, type RequestHead } from './authenticator.js';

/** Options of `apiKeys`. */
export interface ApiKeyOptions {
  readonly store: Pick<ApiKeyStore, 'find'>;
  /** How long a read key is cached, in milliseconds. A revocation takes effect within this time. Default 3,000. */
  readonly maximumAgeMs?: number;
  /**
   * How long a read key stays in use while the default shard cannot be reached, in milliseconds. Any other key is then
   * refused with 503. Default 3,600,000.
   */
  readonly keepMs?: number;
}

/** Maximum cached keys; the oldest is dropped first. Invented prefixes are not cached. */
const MAXIMUM_KNOWN = 10_000;

/** A key that the database returned. */
interface Known {
  readonly key: StoredApiKey;
  readonly principal: KnownPrincipal;
  readonly readMs: number;
  /** The database has not answered since; the next look-up starts at this time, and no request waits for it. */
  askAgainMs: number | undefined;
}

/**
 * Authenticates callers by an API key, created by `fw-gen keys create`: `Authorization: Bearer fwk_...` or `X-Api-Key:
 * fwk_...`.
 */
export function apiKeys({ store, maximumAgeMs = 3_000, keepMs = 3_600_000 }: ApiKeyOptions): Authenticator {
  const known = new Map<string, Known>();
  const reading = new Map<string, Promise<Known | undefined>>();

  const read = async (prefix: string): Promise<Known | undefined> => {
    try {
      const key = await store.find(prefix);
      known.delete(prefix);
      if (key === undefined) return undefined;
      const principal = principalOf({ name: key.principal, claims: key.claims });
      const entry = { key, principal, readMs: time.nowMs(), askAgainMs: undefined };
      known.set(prefix, entry);
      const [oldest] = known.keys();
      if (known.size > MAXIMUM_KNOWN && oldest !== undefined) known.delete(oldest);
      return entry;
    } catch (error) {
      const kept = known.get(prefix);
      const now = time.nowMs();
      if (kept === undefined || now - kept.readMs >= keepMs) throw unavailable(error);
      kept.askAgainMs = now + maximumAgeMs;
      return kept;
    } finally {
      reading.delete(prefix);
    }
  };

  const readOnce = (prefix: string): Promise<Known | undefined> => {
    const current = reading.get(prefix) ?? read(prefix);
    reading.set(prefix, current);
    return current;
  };

  const find = (prefix: string): Known | Promise<Known | undefined> => {
    const found = known.get(prefix);
    const now = time.nowMs();
    if (found === undefined || now - found.readMs >= Math.max(keepMs, maximumAgeMs)) return readOnce(prefix);
    if (now - found.readMs < maximumAgeMs) return found;
    if (found.askAgainMs === undefined) return readOnce(prefix);
    if (now >= found.askAgainMs) void readOnce(prefix).catch(() => {});
    return found;
  };

  const missing = new CredentialMissing('An API key is required', { challenge: 'Bearer' });

  const verify = async (text: string): Promise<KnownPrincipal> => {
    const parsed = parseApiKey(text);
    if (parsed === undefined) throw refused('is malformed');
    const found = await find(parsed.prefix);
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
