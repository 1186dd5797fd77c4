import type { IncomingMessage } from 'node:http';
import { HttpProblem } from './problem.js';

/** Names in lower case; undefined for any. */
export function namesOf(hosts: readonly string[] | undefined): ReadonlySet<string> | undefined {
  return hosts === undefined || hosts.length === 0
    ? undefined
    : new Set(hosts.map((each) => each.toLowerCase()));
}

/**
 * Refuses a request for another host name: a foreign site whose name resolves to this server would otherwise have the
 * same origin as this server (DNS rebinding).
 */
export function checkName(
  { headers: { host = '' } }: IncomingMessage,
  names: ReadonlySet<string> | undefined,
): HttpProblem | undefined {
  if (names === undefined || names.has(host.replace(/:\d*$/, '').toLowerCase())) return undefined;
  return new HttpProblem('HTTP_MISDIRECTED', 'The server does not answer for this host');
}
