import type { IncomingMessage } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../domain/json.js';
import { type Caller, type Claims, principalOf } from '../domain/principal.js';
import { UnauthenticatedError } from '../errors.js';
import type { SecuritySchemes } from '../openapi/documented-access.js';

/** The part of a request that an authenticator receives. The body has not been read. */
export type RequestHead = Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'socket'> &
  Partial<Pick<IncomingMessage, 'rawHeaders'>>;

/**
 * Identifies the caller of a request. Throws `UnauthenticatedError` for a caller without valid credentials: answered
 * with 401 and `WWW-Authenticate`.
 */
export interface Authenticator {
  (request: RequestHead): Caller | Promise<Caller>;
  /** Logged as a warning when the server starts. */
  readonly notice?: string;
  /**
   * The credentials that callers must send, for the API document: a security scheme object of OpenAPI 3.1, such as
   * `{ type: 'http', scheme: 'bearer' }`. Default: none.
   */
  readonly security?: JsonObject;
  /** Several schemes, of which callers need one, by their names in the document. Replaces `security`. */
  readonly schemes?: Readonly<Record<string, JsonObject>>;
}

/**
 * The request has no credential of the kind that the authenticator handles, so another authenticator may. An
 * authenticator throws the same instance for all requests, because creating an error costs more than checking a known
 * credential.
 */
export class CredentialMissing extends UnauthenticatedError {}

/** Gives every caller the same principal. For examples and closed networks; the server logs a warning at start. */
export function fixedPrincipal(name: string, claims: Claims = {}): Authenticator {
  const principal = principalOf({ name, claims });
  return Object.assign(() => principal, {
    notice: `every caller is the principal ${JSON.stringify(name)}, because authentication is off`,
  });
}

/**
 * Uses the first of these authenticators that finds its kind of credential in the request. A credential that is found
 * and invalid is refused at once.
 */
export function firstOf(...authenticators: readonly [Authenticator, ...Authenticator[]]): Authenticator {
  let allMissing: CredentialMissing | undefined;
  const askFrom = (
    index: number,
    request: RequestHead,
    missing: readonly CredentialMissing[],
  ): Caller | Promise<Caller> => {
    const authenticator = authenticators[index];
    if (authenticator === undefined) {
      allMissing ??= together(missing);
      throw allMissing;
    }
    const next = (error: unknown): Caller | Promise<Caller> => {
      if (!(error instanceof CredentialMissing)) throw error;
      return askFrom(index + 1, request, [...missing, error]);
    };
    try {
      const caller = authenticator(request);
      return caller instanceof Promise ? caller.catch(next) : caller;
    } catch (error) {
      return next(error);
    }
  };
  const ask = (request: RequestHead): Caller | Promise<Caller> => askFrom(0, request, []);
  return Object.assign(ask, { schemes: mergedSchemes(authenticators.map(schemesOf)) });
}

/** "An API key is required, or a bearer token is required" */
function together(missing: readonly CredentialMissing[]): CredentialMissing {
  const [first, ...others] = missing.map(({ message }) => message);
  const texts = others.map((text) => `or ${text.charAt(0).toLowerCase()}${text.slice(1)}`);
  const challenges = new Set(missing.map(({ challenge }) => challenge));
  return new CredentialMissing([first, ...texts].join(', '), { challenge: [...challenges].join(', ') });
}

/** All schemes under unique names: the second of two different schemes with one name gets a number. */
function mergedSchemes(all: readonly SecuritySchemes[]): SecuritySchemes {
  const merged: Record<string, JsonObject> = {};
  for (const [name, scheme] of all.flatMap((each) => Object.entries(each))) {
    let free = name;
    for (let number = 2; free in merged && !isDeepStrictEqual(merged[free], scheme); number += 1)
      free = `${name}${number}`;
    merged[free] = scheme;
  }
  return merged;
}

/** Name of the scheme of an authenticator with a single one. */
const CALLER = 'caller';

/** The schemes of an authenticator, by their names in the API document. Empty if it declares none. */
export function schemesOf({ security, schemes = {} }: Authenticator): SecuritySchemes {
  return security === undefined ? schemes : { [CALLER]: security, ...schemes };
}

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/**
 * The bearer token of a request; undefined if there is none.
 *
 * @throws UnauthenticatedError for two `Authorization` headers: a proxy may have checked the other one
 */
export function bearerToken({ headers, rawHeaders = [] }: RequestHead): string | undefined {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.length === 13 && rawHeaders[at]?.toLowerCase() === 'authorization') count += 1;
  }
  if (count > 1) throw new UnauthenticatedError('A request must have exactly one Authorization header');
  return headers.authorization === undefined ? undefined : BEARER.exec(headers.authorization)?.[1];
}
