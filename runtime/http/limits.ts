import { defined } from '../domain/defined.js';
import { ValidationError } from '../errors.js';

/** Limits of clients. Requests beyond them are refused early and cheaply. */
export interface HttpLimits {
  /** Maximum bytes of a request body; a larger one is answered with 413. Default 65,536. */
  readonly bodyBytes: number;
  /** Maximum nesting of objects and arrays in a body; deeper ones are answered with 400. Default 32. */
  readonly nestingDepth: number;
  /** Maximum bytes of the request line and headers together; more are answered with 431. Default 16,384. */
  readonly headerBytes: number;
  /** Maximum headers of a request; more are answered with 431. Default 256. */
  readonly headerCount: number;
  /** Time for a request's headers to arrive, in milliseconds; then 408. Default 5,000. */
  readonly headersTimeoutMs: number;
  /** Time for a whole request to arrive, in milliseconds; then 408. Default 10,000. */
  readonly requestTimeoutMs: number;
  /** Time in which a client must read some of an answer, in milliseconds; else it is disconnected. Default 10,000. */
  readonly answerTimeoutMs: number;
  /** An idle connection is closed after this time, in milliseconds. Default 65,000: longer than load balancers wait. */
  readonly keepAliveTimeoutMs: number;
  /** Maximum open connections; further ones are closed. Default 10,000. */
  readonly connections: number;
  /** Maximum requests in progress; further ones are answered with 503. Default 1,024. */
  readonly requests: number;
  /** The same for the requests of each shard. Default 256. */
  readonly requestsPerShard: number;
}

const DEFAULTS: HttpLimits = {
  bodyBytes: 65_536,
  nestingDepth: 32,
  headerBytes: 16_384,
  headerCount: 256,
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 10_000,
  answerTimeoutMs: 10_000,
  keepAliveTimeoutMs: 65_000,
  connections: 10_000,
  requests: 1_024,
  requestsPerShard: 256,
};

/**
 * The limits of a server, with the defaults of those that are absent.
 *
 * @throws ValidationError for a limit that is not a positive number: no number of requests exceeds NaN
 */
export function httpLimits(given: Partial<HttpLimits> = {}): HttpLimits {
  const limits = { ...DEFAULTS, ...defined(given) };
  for (const [name, limit] of Object.entries(limits))
    if (!(limit > 0)) throw new ValidationError(`limits.${name} must be a positive number, got ${limit}`);
  return limits;
}
