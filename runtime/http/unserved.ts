import type { FastifyReply, FastifyRequest } from 'fastify';
import { FwError } from '../errors.js';
import type { Answers } from './answer.js';
import { HttpProblem } from './problem.js';
import { pathOf } from './request-head.js';
import type { RoutePaths } from './route-paths.js';

/** Answers requests without a route: 204 for OPTIONS and 405 for other methods of a known path, else 404. */
export function answerUnserved(
  request: FastifyRequest,
  reply: FastifyReply,
  { answers, paths }: { readonly answers: Answers; readonly paths: RoutePaths },
): void {
  const path = pathOf(request.raw.url);
  const allow = paths.allowed(path);
  if (allow !== undefined && request.method === 'OPTIONS') answers.sendEmpty(reply, 204, { allow });
  else answers.fail(request, reply, notFound(path, request.method, allow));
}

function notFound(path: string, method: string, allow: string | undefined): HttpProblem {
  if (/%00/.test(path)) return new HttpProblem('HTTP_MALFORMED_REQUEST', 'The path contains NUL');
  if (allow === undefined)
    return new HttpProblem('HTTP_NOT_FOUND', `Nothing is served at ${path.slice(0, 256)}`);
  return new HttpProblem('HTTP_METHOD_NOT_ALLOWED', `${method} is not allowed here; allowed: ${allow}`, {
    headers: { allow },
  });
}

/**
 * Converts Fastify's own refusals to our problems, and those of plugins by their status. Any other error comes from a
 * handler.
 */
export function translateRefusal(
  error: (Error & { readonly code?: string; readonly statusCode?: number }) | null | undefined,
): unknown {
  // A handler may throw anything.
  if (error === undefined || error === null) return error;
  switch (error.code) {
    case 'FST_ERR_BAD_URL':
      return new HttpProblem('HTTP_MALFORMED_REQUEST', 'The path is not valid percent-encoded UTF-8');
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new HttpProblem('HTTP_URI_TOO_LONG', 'A part of the path is too long');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new HttpProblem('HTTP_UNSUPPORTED_MEDIA_TYPE', 'The content type is not valid');
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new HttpProblem('HTTP_BODY_TOO_LARGE', 'The body is larger than this route allows');
    case 'FST_ERR_VALIDATION':
      return new HttpProblem('FW_VALIDATION', error.message);
    case 'FST_ERR_HANDLER_TIMEOUT':
      return new HttpProblem('HTTP_ROUTE_TIMEOUT', 'The route did not answer in time');
    default:
      return refusalByStatus(error) ?? error;
  }
}

/** Errors of plugins and custom routes have their own status, as Fastify documents it. */
function refusalByStatus(error: Error & { readonly statusCode?: number }): HttpProblem | undefined {
  const { statusCode } = error;
  if (error instanceof FwError || error instanceof HttpProblem || statusCode === undefined) return undefined;
  const isCallers = Number.isInteger(statusCode) && statusCode >= 400 && statusCode < 500;
  return isCallers ? new HttpProblem('HTTP_REFUSED', error.message, { status: statusCode }) : undefined;
}
