import type { IncomingMessage } from 'node:http';
import type { CorsConfig } from '../config/types.js';

/** Request headers that pages of other origins may send: those that generated routes read. */
const REQUEST_HEADERS = [
  ...['authorization', 'content-type', 'idempotency-key', 'if-match', 'if-none-match'],
  ...['last-event-id', 'traceparent', 'x-api-key', 'x-request-id'],
].join(', ');
/** Response headers that they may read. */
const ANSWER_HEADERS = [
  ...['etag', 'idempotency-replayed', 'location', 'ratelimit', 'ratelimit-policy', 'retry-after'],
  ...['www-authenticate', 'x-request-id'],
].join(', ');

/** How long browsers cache a preflight answer: ten minutes. */
const PREFLIGHT_MAX_AGE_SECONDS = '600';

/** The pages of other origins that may call the server (CORS). */
export class CrossOrigin {
  readonly #origins: ReadonlySet<string>;
  readonly #isAny: boolean;
  readonly #config: CorsConfig;

  constructor(config: CorsConfig) {
    this.#config = config;
    this.#origins = new Set(config.origins);
    this.#isAny = this.#origins.has('*');
  }

  /** Headers that let the page read an answer. */
  headersFor(origin: string | undefined): Record<string, string> {
    // A cache must not return the answer for one origin to a page of another one.
    const headers: Record<string, string> = this.#isAny ? {} : { vary: 'origin' };
    if (origin === undefined || !this.#allows(origin)) return headers;
    headers['access-control-allow-origin'] = this.#isAny ? '*' : origin;
    headers['access-control-expose-headers'] = ANSWER_HEADERS;
    if (this.#config.credentials) headers['access-control-allow-credentials'] = 'true';
    return headers;
  }

  /**
   * The answer to a browser's preflight request; undefined for any other request, and for pages without permission.
   *
   * @param methods those of the path, separated by commas
   */
  preflight(
    { method, headers }: IncomingMessage,
    methods: string | undefined,
  ): Record<string, string> | undefined {
    const { origin, 'access-control-request-method': wanted } = headers;
    if (method !== 'OPTIONS' || origin === undefined || wanted === undefined || methods === undefined)
      return undefined;
    if (!this.#allows(origin)) return undefined;
    return {
      'access-control-allow-methods': methods,
      'access-control-allow-headers': REQUEST_HEADERS,
      'access-control-max-age': PREFLIGHT_MAX_AGE_SECONDS,
    };
  }

  #allows(origin: string): boolean {
    return this.#isAny || this.#origins.has(origin);
  }
}
