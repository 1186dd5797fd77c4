import { errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose';
import { type Caller, type Claims, type KnownPrincipal, principalOf } from '../domain/principal.js';
import { UnauthenticatedError, ValidationError } from '../errors.js';
import { TOKEN_SCHEMES } from '../openapi/documented-access.js';
import { type Authenticator, bearerToken, CredentialMissing } from './authenticator.js';
import { IssuerKeys, type KeyTimes, type LoadKeys } from './issuer-keys.js';

/** What `jwt` accepts. */
export interface JwtOptions extends Partial<KeyTimes> {
  /** `iss` of every token. */
  readonly issuer: string;
  /** `aud` of every token, or one of its audiences. */
  readonly audience: string;
  /** URL of the key set (JWKS) of the issuer. Default: `.well-known/jwks.json` below the issuer. */
  readonly jwksUrl?: string;
  /** Algorithms of signatures. Default `RS256`, `PS256`, `ES256` and `EdDSA`. Symmetric ones and `none` are refused. */
  readonly algorithms?: readonly string[];
  /** By how much clocks may differ, in milliseconds. Default 5,000. */
  readonly clockToleranceMs?: number;
  /** Claims of the token that the principal gets. Default none. */
  readonly claims?: readonly string[];
  /** Who the caller is, by a token that has been verified. Default: `sub`, with `claims`. */
  readonly principal?: (payload: JWTPayload) => Caller;
  /** Loads the keys. Default: by `fetch` from `jwksUrl`. */
  readonly loadKeys?: LoadKeys;
}

const ASYMMETRIC: readonly string[] = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

const DEFAULT_ALGORITHMS: readonly string[] = ['RS256', 'PS256', 'ES256', 'EdDSA'];

/** Three parts: no other credential of a bearer looks like that. */
const JWT = /^[\w-]+\.[\w-]*\.[\w-]*$/;

/**
 * Callers prove who they are by a JSON Web Token of an issuer: `Authorization: Bearer <token>`. It must have been
 * issued for this audience, carry `sub` and `exp`, and be signed with a key that the issuer publishes.
 *
 * @throws ValidationError for an algorithm that is symmetric or not known
 */
export function jwt(options: JwtOptions): Authenticator {
  const { issuer, audience, clockToleranceMs = 5_000, algorithms = DEFAULT_ALGORITHMS } = options;
  for (const each of algorithms) {
    if (!ASYMMETRIC.includes(each)) {
      throw new ValidationError(
        `JWT algorithm ${JSON.stringify(each)} is not supported. Use some of ${ASYMMETRIC.join(', ')}.`,
      );
    }
  }
  const url = options.jwksUrl ?? `${issuer.replace(/\/$/, '')}/.well-known/jwks.json`;
  const keys = new IssuerKeys(options.loadKeys ?? loadFrom(url), definedTimes(options));
  const verify = {
    issuer,
    audience,
    algorithms: [...algorithms],
    clockTolerance: clockToleranceMs / 1_000,
    requiredClaims: ['sub', 'exp'],
  };
  const principal = options.principal ?? ((payload) => principalFrom(payload, options.claims ?? []));

  const authenticate = async (request: Parameters<Authenticator>[0]): Promise<KnownPrincipal> => {
    const token = bearerToken(request);
    if (token === undefined || !JWT.test(token))
      throw new CredentialMissing('A bearer token is needed', { challenge: 'Bearer' });
    const { payload } = await jwtVerify(token, keys.find, verify).catch(refuse);
    try {
      return principalOf(principal(payload));
    } catch (error) {
      if (error instanceof ValidationError) throw invalid(error.message, error);
      throw error;
    }
  };
  return Object.assign(authenticate, { schemes: TOKEN_SCHEMES });
}

function principalFrom(payload: JWTPayload, names: readonly string[]): Caller {
  const claims: Record<string, unknown> = {};
  for (const name of names) if (payload[name] !== undefined) claims[name] = payload[name];
  // A token's payload is JSON.
  return { name: String(payload.sub), claims: claims as Claims };
}

/** What `jose` refuses a token for is said in its words; anything else is no statement about the token. */
function refuse(error: unknown): never {
  throw error instanceof errors.JOSEError ? invalid(error.message, error) : error;
}

function invalid(message: string, cause: unknown): UnauthenticatedError {
  return new UnauthenticatedError(`The token is refused: ${message}`, {
    challenge: 'Bearer error="invalid_token"',
    cause,
  });
}

function loadFrom(url: string): LoadKeys {
  return async (signal) => {
    const response = await fetch(url, { signal, redirect: 'error', headers: { accept: 'application/json' } });
    if (!response.ok) throw new Error(`${url} answered ${response.status}`);
    return JSON.parse(await textOf(response, url)) as JSONWebKeySet;
  };
}

/** Bytes of a key set. */
const LARGEST_KEY_SET = 1_048_576;

async function textOf({ body }: Response, url: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > LARGEST_KEY_SET) throw new Error(`${url} answered with more than ${LARGEST_KEY_SET} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function definedTimes({ refreshMs, keepMs, cooldownMs, timeoutMs }: JwtOptions): Partial<KeyTimes> {
  const given = { refreshMs, keepMs, cooldownMs, timeoutMs };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
