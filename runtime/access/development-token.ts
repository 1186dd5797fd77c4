import { hash, timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { type Caller, principalOf } from '../domain/principal.js';
import { UnauthenticatedError, ValidationError } from '../errors.js';
import type { SecuritySchemes } from '../openapi/documented-access.js';
import { type Authenticator, bearerToken, CredentialMissing, type RequestHead } from './authenticator.js';

/** Options of `developmentToken`. */
interface DevelopmentTokenOptions {
  /**
   * File that contains only the token. A relative path is resolved against the working directory. The file is read
   * once.
   */
  readonly file: string;
  /** The principal of requests with the token. Default: `developer`, without claims. */
  readonly principal?: Caller;
}

const MINIMUM_LENGTH = 16;

const SCHEMES: SecuritySchemes = { developmentToken: { type: 'http', scheme: 'bearer' } };

/**
 * Authenticates the only caller of a development machine: `Authorization: Bearer <token>`, with the token in a file
 * that is not committed. Without the file every request is refused. A deployment uses `fw.access` instead.
 *
 * @throws ValidationError for a token of fewer than 16 characters
 */
export function developmentToken(options: DevelopmentTokenOptions): Authenticator {
  const { file, principal: caller = { name: 'developer' } } = options;
  const principal = principalOf(caller);
  const token = existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
  if (token !== undefined && token.length < MINIMUM_LENGTH)
    throw new ValidationError(`${file} must hold a random token of at least ${MINIMUM_LENGTH} characters`);
  // Digests, because `timingSafeEqual` needs buffers of the same length.
  const expected = token === undefined ? undefined : hash('sha256', token, 'buffer');

  const authenticate = (request: RequestHead): Caller => {
    const sent = bearerToken(request);
    if (sent === undefined || expected === undefined)
      throw new CredentialMissing('The development token is required', { challenge: 'Bearer' });
    if (!timingSafeEqual(hash('sha256', sent, 'buffer'), expected))
      throw new UnauthenticatedError('The token is unknown', { challenge: 'Bearer error="invalid_token"' });
    return principal;
  };
  const notice =
    expected === undefined
      ? `${file} does not exist: every request is refused. Write a random token into it, or configure fw.access`
      : `requests with the token in ${file} run as the principal ${JSON.stringify(principal.name)}: for development only`;
  return Object.assign(authenticate, { notice, schemes: SCHEMES });
}
