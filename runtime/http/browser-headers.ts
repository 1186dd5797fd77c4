import type { IncomingMessage } from 'node:http';
import type { FwConfig } from '../config/types.js';

/** An answer of the API loads nothing, runs nothing and cannot be framed. */
export const API_POLICY = "default-src 'none'; frame-ancestors 'none'";
/** Custom routes may answer with pages, which need scripts and styles. */
export const CUSTOM_POLICY = "frame-ancestors 'none'";
const SECURITY = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': API_POLICY,
};

/** Request headers that pages of other origins may send: those that generated routes read. */
const REQUEST_HEADERS =
  'authorization, content-type, idempotency-key, if-match, if-none-match, last-event-id, traceparent, x-api-key, x-request-id';
/** Response headers that they may read. */
const ANSWER_HEADERS =
  'etag, idempotency-replayed, location, ratelimit, ratelimit-policy, retry-after, www-authenticate, x-request-id';

/** Headers that restrict what browsers may do with an answer. Those of a page, a plugin or a route take precedence. */
export class BrowserHeaders {
  /** Headers of every answer. */
  readonly security: Readonly<Record<string, string>>;
  readonly #cors: FwConfig['http']['cors'];
  readonly #isAny: boolean;

  /** @param strictTransportSeconds how long browsers must use only HTTPS. 0: the header is absent */
  constructor(strictTransportSeconds: number, cors: FwConfig['http']['cors']) {
    this.#cors = cors;
    this.#isAny = cors?.origins.includes('*') === true;
    const transport = { 'strict-transport-security': `max-age=${strictTransportSeconds}` };
    this.security = strictTransportSeconds === 0 ? SECURITY : { ...SECURITY, ...transport };
  }

  /** Headers that let a page of this origin read an answer; undefined if no page of another origin may. */
  crossOrigin(origin: string | undefined): Record<string, string> | undefined {
    if (this.#cors === undefined) return undefined;
    // A cache must not return the answer for one origin to a page of another one.
    const headers: Record<string, string> = this.#isAny ? {} : { vary: 'origin' };
    if (origin === undefined || !this.#allows(origin)) return headers;
    headers['access-control-allow-origin'] = this.#isAny ? '*' : origin;
    headers['access-control-expose-headers'] = ANSWER_HEADERS;
    if (this.#cors.credentials) headers['access-control-allow-credentials'] = 'true';
    return headers;
  }

  /** Whether a request asks, for a page that has permission, what it may send. */
  isPreflight({ method, headers }: IncomingMessage): boolean {
    const { origin, 'access-control-request-method': wanted } = headers;
    return method === 'OPTIONS' && wanted !== undefined && origin !== undefined && this.#allows(origin);
  }

  /**
   * The answer to a preflight request. The requested method is always among the allowed ones: a page that asks for what
   * is not served gets a problem, and not a failure without a reason.
   *
   * @param allowed methods of the path, separated by commas; undefined: nothing is served there
   */
  preflight({ headers }: IncomingMessage, allowed: string | undefined): Record<string, string> {
    const methods = new Set([...(allowed?.split(', ') ?? []), headers['access-control-request-method']]);
    return {
      'access-control-allow-methods': [...methods].join(', '),
      'access-control-allow-headers': REQUEST_HEADERS,
      // Ten minutes, in seconds.
      'access-control-max-age': '600',
    };
  }

  #allows(origin: string): boolean {
    return this.#isAny || this.#cors?.origins.includes(origin) === true;
  }
}
