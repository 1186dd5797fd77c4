import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';

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

  /**
   * The headers of an answer and those of these that neither it nor a plugin has set, as names and values in turns:
   * Node writes a list without looking anything up, and an object with so many computed names would cost as much as a
   * route.
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
