import { hash } from 'node:crypto';
import {
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose';
import { LRUCache } from 'lru-cache';
import { time } from '../concurrency/time.js';
import { hasCredentials, shownUrl } from '../config/shown-url.js';
import { type Caller, type Claims, type KnownPrincipal, principalOf } from '../domain/principal.js';
import { FwError, UnauthenticatedError, ValidationError } from '../errors.js';
import { TOKEN_SCHEMES } from '../openapi/documented-access.js';
import { type Authenticator, bearerToken, CredentialMissing, type RequestHead } from './authenticator.js';
import { issuerKeys, type KeyTimes } from './issuer-keys.js';

/** Options of `jwt`. */
export interface JwtOptions extends Partial<KeyTimes> {
  /** Required `iss` of every token. */
  readonly issuer: string;
  /** Required `aud` of every token, or one of its audiences. */
  readonly audience: string;
  /** URL of the issuer's key set (JWKS). Default: `.well-known/jwks.json` below the issuer. */
  readonly jwksUrl?: string;
  /** Tolerated clock difference, in milliseconds. Default 5,000. */
  readonly clockToleranceMs?: number;
  /** Claims of the token that are copied to the principal. Default none. */
  readonly claims?: readonly string[];
  /** Returns the caller for a verified token; called for each request. Default: `sub`, with `claims`. */
  readonly principal?: (payload: JWTPayload) => Caller;
  /**
   * Maximum verified tokens in the cache. A cached token needs no further verification until it expires or the issuer
   * changes its keys. 0: every request verifies its token. Default 10,000.
   */
  readonly rememberedTokens?: number;
  /** Loads the keys. Default: by `fetch` from `jwksUrl`. */
  readonly loadKeys?: (signal: AbortSignal) => Promise<JSONWebKeySet>;
}

/** Symmetric ones and `none` are refused. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/** Three parts: no other bearer credential has this form. */
const JWT = /^[\w-]+\.[\w-]*\.[\w-]*$/;

/**
 * Authenticates callers by a JSON Web Token of an issuer: `Authorization: Bearer <token>`. It must have been issued for
 * this audience, carry `sub` and `exp`, and be signed with an asymmetric key that the issuer publishes.
 *
 * @throws ValidationError for a key set URL with credentials
 */
export function jwt(options: JwtOptions): Authenticator {
  const { issuer, audience, clockToleranceMs = 5_000 } = options;
  const url = options.jwksUrl ?? `${issuer.replace(/\/$/, '')}/.well-known/jwks.json`;
  if (hasCredentials(url)) throw new ValidationError('The URL of a key set must not contain credentials');
  const keys = issuerKeys(options.loadKeys ?? loadFrom(url), options);
  const missing = new CredentialMissing('A bearer token is required', { challenge: 'Bearer' });
  const { rememberedTokens = 10_000 } = options;
  const remembered =
    rememberedTokens === 0 ? undefined : new LRUCache<string, Verified>({ max: rememberedTokens });

  const verify = async (token: string): Promise<KnownPrincipal> => {
    const keysVersion = keys.version();
    const payload = await verifiedPayload(token, keys.find, {
      ...{ issuer, audience },
      algorithms: ALGORITHMS,
      clockTolerance: clockToleranceMs / 1_000,
      currentDate: new Date(time.dateMs()),
      requiredClaims: ['sub', 'exp'],
    });
    const principal = principalMaker(payload, options);
    const known = principal();
    if (keysVersion !== undefined)
      remembered?.set(digestOf(token), { principal, keysVersion, expires: Number(payload.exp) });
    return known;
  };

  const isCurrent = ({ keysVersion, expires }: Verified): boolean =>
    keysVersion === keys.version() && expires * 1_000 > time.dateMs() - clockToleranceMs;

  const authenticate = (request: RequestHead): KnownPrincipal | Promise<KnownPrincipal> => {
    const token = bearerToken(request);
    if (token === undefined || !JWT.test(token)) throw missing;
    const found = remembered?.get(digestOf(token));
    return found !== undefined && isCurrent(found) ? found.principal() : verify(token);
  };
  return Object.assign(authenticate, { schemes: TOKEN_SCHEMES });
}

/** A token whose signature and claims have been checked. */
interface Verified {
  readonly principal: () => KnownPrincipal;
  /** `exp`, in seconds since 1970. */
  readonly expires: number;
  /** Version of the keys before the token was verified. */
  readonly keysVersion: number;
}

/** Tokens are cached by digest, so that comparing texts reveals nothing about a token. */
function digestOf(token: string): string {
  return hash('sha256', token, 'base64');
}

/** Creates the principal of a token once, unless the application creates it. */
function principalMaker(payload: JWTPayload, { principal, claims = [] }: JwtOptions): () => KnownPrincipal {
  const make = (caller: () => Caller): KnownPrincipal => {
    try {
      return principalOf(caller());
    } catch (error) {
      if (error instanceof ValidationError) throw invalid(error.message, error);
      throw error;
    }
  };
  if (principal !== undefined) return () => make(() => principal(payload));
  const known = make(() => principalFrom(payload, claims));
  return () => known;
}

function principalFrom(payload: JWTPayload, names: readonly string[]): Caller {
  const name: unknown = payload.sub;
  // An object would become the text `[object Object]`, the same for all.
  if (typeof name !== 'string') throw new ValidationError('"sub" must be a string');
  const claims: Record<string, unknown> = {};
  for (const each of names) if (payload[each] !== undefined) claims[each] = payload[each];
  // A token's payload is JSON.
  return { name, claims: claims as Claims };
}

/** @throws UnauthenticatedError for a refused token @throws IssuerUnavailableError */
async function verifiedPayload(
  token: string,
  findKey: JWTVerifyGetKey,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, findKey, options)).payload;
  } catch (error) {
    if (error instanceof errors.JWKSMultipleMatchingKeys) return verifiedByOneOf(error, token, options);
    throw refusal(error);
  }
}

/** Verifies a token that does not name its key, with any key of the issuer. */
async function verifiedByOneOf(
  keys: errors.JWKSMultipleMatchingKeys,
  token: string,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  let failure: unknown = keys;
  for await (const key of keys) {
    try {
      return (await jwtVerify(token, key, options)).payload;
    } catch (error) {
      failure = error;
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) break;
    }
  }
  throw refusal(failure);
}

/** Refuses with the message of `jose` if the error concerns the token. */
function refusal(error: unknown): unknown {
  if (error instanceof FwError) return error;
  return invalid(error instanceof errors.JOSEError ? error.message : 'its key cannot be used', error);
}

function invalid(message: string, cause: unknown): UnauthenticatedError {
  return new UnauthenticatedError(`The token is refused: ${message}`, {
    challenge: 'Bearer error="invalid_token"',
    cause,
  });
}

function loadFrom(url: string): NonNullable<JwtOptions['loadKeys']> {
  return async (signal) => {
    const response = await fetch(url, { signal, redirect: 'error', headers: { accept: 'application/json' } });
    if (!response.ok) throw new Error(`${shownUrl(url)} answered ${response.status}`);
    return (await response.json()) as JSONWebKeySet;
  };
}
