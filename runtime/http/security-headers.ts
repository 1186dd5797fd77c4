/** Headers that restrict what browsers may do with an answer. Names in lower case. */
const OF_ALL = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
};
/** An answer of the API loads nothing, runs nothing and cannot be framed. */
export const API_POLICY = "default-src 'none'; frame-ancestors 'none'";
/** Custom routes may answer with pages, which need scripts and styles. */
export const CUSTOM_POLICY = "frame-ancestors 'none'";

/** The security headers of all answers of a server. Headers of a page, a plugin or a route take precedence. */
export class SecurityHeaders {
  readonly api: Readonly<Record<string, string>>;

  /** @param strictTransportSeconds how long browsers must use only HTTPS. Default 0: the header is absent */
  constructor(strictTransportSeconds = 0) {
    const transport =
      strictTransportSeconds === 0
        ? {}
        : { 'strict-transport-security': `max-age=${strictTransportSeconds}` };
    this.api = { ...OF_ALL, 'content-security-policy': API_POLICY, ...transport };
  }
}
