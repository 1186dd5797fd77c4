import type { IncomingMessage } from 'node:http';
import type { JsonValue } from '../domain/json.js';
import { type Caller, type Claims, principalOf } from '../domain/principal.js';

/** What an authenticator sees of a request. The body has not been looked at. */
export type RequestHead = Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'socket'>;

/** A security scheme object of OpenAPI 3.1: `{ type: 'http', scheme: 'bearer' }`. */
export type SecurityScheme = { readonly [member: string]: JsonValue };

/**
 * Says who is calling. Throws `UnauthenticatedError` for a caller that does not prove it: answered with 401 and
 * `WWW-Authenticate`.
 */
export interface Authenticator {
  (request: RequestHead): Caller | Promise<Caller>;
  /** Logged as a warning when the server starts. */
  readonly notice?: string;
  /** What callers must send, for the API document. Default: the document asks for nothing. */
  readonly security?: SecurityScheme;
}

/** Everybody is the same principal. For examples and closed networks; says so when the server starts. */
export function fixedPrincipal(name: string, claims: Claims = {}): Authenticator {
  const principal = principalOf({ name, claims });
  return Object.assign(() => principal, {
    notice: `every caller is the principal ${JSON.stringify(name)}: there is no authentication`,
  });
}
