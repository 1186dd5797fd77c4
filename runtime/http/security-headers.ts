import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

type Header = readonly [name: string, value: string];

/** What keeps a browser from doing more with an answer than the server means. Names in lower case. */
const OF_ALL: readonly Header[] = [
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-resource-policy', 'same-origin'],
];
/** An answer of the API loads nothing, runs nothing and stands in no frame. */
const API_POLICY: Header = ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"];
/** Custom routes may answer with pages, which need scripts and styles. */
const CUSTOM_POLICY: Header = ['content-security-policy', "frame-ancestors 'none'"];

/** The security headers of all answers of a server, made once. Those that a page, a plugin or a route sets win. */
export class SecurityHeaders {
  /** Of answers of custom routes. */
  readonly custom: readonly Header[];
  /** Of answers that are bytes: lines with their ends. */
  readonly lines: string;
  readonly #api: readonly Header[];

  /** @param strictTransportSeconds how long browsers shall use HTTPS only. Default 0: the header is absent */
  constructor(strictTransportSeconds = 0) {
    const transport: readonly Header[] =
      strictTransportSeconds === 0
        ? []
        : [['strict-transport-security', `max-age=${strictTransportSeconds}`]];
    this.custom = [...OF_ALL, CUSTOM_POLICY, ...transport];
    this.#api = [...OF_ALL, API_POLICY, ...transport];
    this.lines = this.#api.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  }

  /** Adds them to the headers that an answer is about to be sent with. */
  addTo(response: ServerResponse, headers: OutgoingHttpHeaders): void {
    for (const [name, value] of this.#api) {
      if (headers[name] === undefined && !response.hasHeader(name)) headers[name] = value;
    }
  }
}
