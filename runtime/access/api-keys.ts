import { time } from '../concurrency/time.js';
import { type KnownPrincipal, principalOf } from '../domain/principal.js';
import { UnauthenticatedError } from '../errors.js';
import { API_KEY_SCHEMES } from '../openapi/documented-access.js';
import { type ApiKeyStore, isApiKey, isSecretOf, parseApiKey, type StoredApiKey } from './api-key-store.js';
import { type Authenticator, bearerToken, CredentialMissing, type RequestHead } from './authenticator.js';

/** Options of `apiKeys`. */
export interface ApiKeyOptions {
  readonly store: Pick<ApiKeyStore, 'find'>;
  /** How long a read key is cached, in milliseconds. A revocation takes effect within this time. Default 3,000. */
  readonly maximumAgeMs?: number;
}

/** Maximum cached keys; the oldest is dropped first. Invented prefixes are not cached. */
const MAXIMUM_KNOWN = 10_000;

interface Known {
  readonly key: Promise<StoredApiKey | undefined>;
  readonly principal: (key: StoredApiKey) => KnownPrincipal;
  readonly readMs: number;
}

/**
 * Authenticates callers by an API key, created by `fw-gen keys create`: `Authorization: Bearer fwk_...` or `X-Api-Key:
 * fwk_...`.
 */
export function apiKeys({ store, maximumAgeMs = 3_000 }: ApiKeyOptions): Authenticator {
  const known = new Map<string, Known>();

  const read = (prefix: string): Known => {
    const now = time.nowMs();
    const found = known.get(prefix);
    if (found !== undefined && now - found.readMs < maximumAgeMs) return found;
    let principal: KnownPrincipal | undefined;
    const entry: Known = {
      key: store.find(prefix),
      principal: (key) => {
        principal ??= principalOf({ name: key.principal, claims: key.claims });
        return principal;
      },
      readMs: now,
    };
    known.delete(prefix);
    known.set(prefix, entry);
    const [oldest] = known.keys();
    if (known.size > MAXIMUM_KNOWN && oldest !== undefined) known.delete(oldest);
    // A key that is unknown or could not be read is not cached: invented prefixes must not displace keys.
    const forget = (): void => {
      if (known.get(prefix) === entry) known.delete(prefix);
    };
    entry.key.then((key) => key ?? forget(), forget);
    return entry;
  };

  const missing = new CredentialMissing('An API key is required', { challenge: 'Bearer' });

  const verify = async (text: string): Promise<KnownPrincipal> => {
    const parsed = parseApiKey(text);
    if (parsed === undefined) throw refused('is malformed');
    const entry = read(parsed.prefix);
    const key = await entry.key;
    // The error does not reveal whether the prefix exists.
    if (key === undefined || !isSecretOf(key, parsed.hash)) throw refused('is not known');
    if (key.revokedDate !== undefined) throw refused('was revoked');
    if (key.expiresDate !== undefined && key.expiresDate.getTime() <= time.dateMs())
      throw refused('has expired');
    return entry.principal(key);
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
