import type { IncomingMessage } from 'node:http';
import { HttpProblem } from './problem.js';

/** An authority without user information: a name, an IPv4 address or an IPv6 address in brackets, and a port. */
const HOST =
  /^(?:\[[0-9A-Fa-f:.]{2,45}\]|(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2}){1,255})(?::[0-9]{0,5})?$/;

/** Scheme and authority of a request target in absolute form. */
const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;

/** Pages that load balancers and Prometheus request by the address of the process. */
const PROBED: ReadonlySet<string> = new Set(['/health/live', '/health/ready', '/metrics']);

/** Fastify's `rewriteUrl`: the path of a target in absolute form, whose authority replaces `Host` (RFC 9112, 3.2.2). */
export function pathOfTarget({ url = '/', headers }: Pick<IncomingMessage, 'url' | 'headers'>): string {
  if (url.startsWith('/')) return url;
  const [start, authority] = ABSOLUTE.exec(url) ?? [];
  if (start === undefined || authority === undefined || !HOST.test(authority)) return url;
  // A request without a valid `Host` is refused.
  if (HOST.test(headers.host ?? '')) headers.host = authority;
  const path = url.slice(start.length);
  return path.startsWith('/') ? path : `/${path}`;
}

/**
 * Checks what Node's parser accepts: the version of HTTP, the number of headers, the expectation and `Host`.
 *
 * @param headerCount maximum number of headers
 * @param hosts accepted names in lower case; empty: any
 * @returns the problem; `undefined` for a valid request
 */
export function checkHead(
  request: IncomingMessage,
  headerCount: number,
  hosts: ReadonlySet<string>,
): HttpProblem | undefined {
  const { rawHeaders, httpVersionMajor: major, httpVersionMinor: minor } = request;
  if (major !== 1 || minor > 1)
    return new HttpProblem('HTTP_VERSION_NOT_SUPPORTED', 'The server speaks HTTP/1.1 and HTTP/1.0');
  if (rawHeaders.length > 2 * headerCount)
    return new HttpProblem('HTTP_HEADERS_TOO_LARGE', `A request may have at most ${headerCount} headers`);
  return (
    checkCoding(request) ??
    checkHost(request, minor === 1) ??
    checkTarget(request) ??
    checkExpectation(request.headers) ??
    checkName(request, hosts)
  );
}

/**
 * Refuses a request for another host name: a foreign site whose name resolves to this server would otherwise have the
 * same origin as this server (DNS rebinding). Probes call by address.
 */
function checkName(
  { url, headers: { host = '' } }: IncomingMessage,
  hosts: ReadonlySet<string>,
): HttpProblem | undefined {
  if (hosts.size === 0 || hosts.has(host.replace(/:\d*$/, '').toLowerCase())) return undefined;
  if (PROBED.has(pathOf(url))) return undefined;
  return new HttpProblem('HTTP_MISDIRECTED', 'The server does not answer for this host');
}

function checkCoding({ headers, httpVersionMinor }: IncomingMessage): HttpProblem | undefined {
  const coding = headers['transfer-encoding'];
  if (coding === undefined) return undefined;
  if (httpVersionMinor === 0) return malformed('A request of HTTP/1.0 cannot have a transfer coding', CLOSE);
  // Node's parser accepts other codings before it, and would not decode them.
  if (coding.toLowerCase() !== 'chunked')
    return malformed('The only supported transfer coding is chunked, once', CLOSE);
  return undefined;
}

function checkHost(
  { rawHeaders, headers: { host } }: IncomingMessage,
  isRequired: boolean,
): HttpProblem | undefined {
  if (host === undefined)
    return isRequired ? malformed('A request of HTTP/1.1 must have a Host header') : undefined;
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  if (count > 1) return malformed('A request must have exactly one Host header');
  return HOST.test(host) ? undefined : malformed('The Host header is not a host and port');
}

function checkTarget({ url = '/' }: IncomingMessage): HttpProblem | undefined {
  if (url.startsWith('/') || url === '*') return undefined;
  return malformed('The target of the request is neither a path nor a URL');
}

function checkExpectation({ expect }: IncomingMessage['headers']): HttpProblem | undefined {
  if (expect === undefined || expect.toLowerCase() === '100-continue') return undefined;
  // The client may or may not send the body.
  return new HttpProblem('HTTP_EXPECTATION_FAILED', 'The server supports only the expectation 100-continue', {
    headers: CLOSE,
  });
}

const CLOSE = { connection: 'close' };

function malformed(detail: string, headers: Readonly<Record<string, string>> = {}): HttpProblem {
  return new HttpProblem('HTTP_MALFORMED_REQUEST', detail, { headers });
}

/** The path of a request target, without the query. */
export function pathOf(url = '/'): string {
  const end = url.search(/[?#]/);
  return end === -1 ? url : url.slice(0, end);
}
