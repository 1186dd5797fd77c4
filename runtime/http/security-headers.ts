import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';

type Header = readonly [name: string, value: string];

/** Headers that restrict what browsers may do with an answer. Names in lower case. */
const OF_ALL: readonly Header[] = [
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-resource-policy', 'same-origin'],
];
/** An answer of the API loads nothing, runs nothing and cannot be framed. */
const API_POLICY: Header = ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"];
/** Custom routes may answer with pages, which need scripts and styles. */
const CUSTOM_POLICY: Header = ['content-security-policy', "frame-ancestors 'none'"];

/** The security headers of all answers of a server. Headers of a page, a plugin or a route take precedence. */
export class SecurityHeaders {
  /** Headers of custom routes' answers. */
  readonly custom: readonly Header[];
  /** Header lines, with line ends, for answers that are written as bytes. */
  readonly lines: string;
  readonly #api: readonly Header[];

  /** @param strictTransportSeconds how long browsers must use only HTTPS. Default 0: the header is absent */
  constructor(strictTransportSeconds = 0) {
    const transport: readonly Header[] =
      strictTransportSeconds === 0
        ? []
        : [['strict-transport-security', `max-age=${strictTransportSeconds}`]];
    this.custom = [...OF_ALL, CUSTOM_POLICY, ...transport];
    this.#api = [...OF_ALL, API_POLICY, ...transport];
    this.lines = this.#api.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  }

  /**
   * The headers of an answer, and the security headers that neither it nor a plugin has set, as alternating names and
   * values. Node writes a list without look-ups; an object with that many computed names would cost as much as a route.
   */
  complete(response: ServerResponse, headers: OutgoingHttpHeaders): OutgoingHttpHeader[] {
    const list: OutgoingHttpHeader[] = [];
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) list.push(name, value);
    const isPlain = response.getHeaderNames().length === 0;
    for (const [name, value] of this.#api) {
      if (headers[name] === undefined && (isPlain || !response.hasHeader(name))) list.push(name, value);
    }
    return list;
  }
}
