import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Characters that are safe in logs and headers. */
const VALID = /^[\w.:/+=-]{1,128}$/;

/** Ids of one process begin alike. A random id for each request would be a tenth of the cost of a short answer. */
const PROCESS = randomBytes(9).toString('base64url');
let count = 0;

/**
 * The id of a request: its `X-Request-Id`, or a new one if that is absent or unusual. The id replaces the header, so
 * that plugins, custom routes, the log and the answer have the same.
 */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const { 'x-request-id': given } = headers;
  if (typeof given === 'string' && VALID.test(given)) return given;
  count += 1;
  const id = `${PROCESS}-${count.toString(36)}`;
  headers['x-request-id'] = id;
  return id;
}
