import { ERROR_KINDS, type ErrorCode } from '../error-kinds.js';
import { ValidationError } from '../errors.js';

/** The common properties of all problems of one code. */
export interface ProblemKind {
  readonly status: number;
  readonly title: string;
  /** A fixed text instead of the error's message, which may contain hosts, tables or SQL. Default: the message. */
  readonly detail?: string;
}

/** Refusals by the HTTP layer itself. All other problems have the `ErrorCode` of their error. */
const HTTP_KINDS = {
  HTTP_MALFORMED_REQUEST: { status: 400, title: 'Malformed request' },
  HTTP_MALFORMED_BODY: { status: 400, title: 'Malformed body' },
  HTTP_NOT_FOUND: { status: 404, title: 'Not found' },
  HTTP_METHOD_NOT_ALLOWED: { status: 405, title: 'Method not allowed' },
  HTTP_NOT_ACCEPTABLE: { status: 406, title: 'Not acceptable' },
  HTTP_REQUEST_TIMEOUT: { status: 408, title: 'Request timeout' },
  HTTP_BODY_TOO_LARGE: { status: 413, title: 'Body too large' },
  HTTP_URI_TOO_LONG: { status: 414, title: 'URI too long' },
  HTTP_UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'Unsupported media type' },
  HTTP_MISDIRECTED: { status: 421, title: 'Misdirected request' },
  HTTP_EXPECTATION_FAILED: { status: 417, title: 'Expectation failed' },
  HTTP_HEADERS_TOO_LARGE: { status: 431, title: 'Headers too large' },
  HTTP_METHOD_NOT_IMPLEMENTED: { status: 501, title: 'Method not implemented' },
  HTTP_BUSY: {
    status: 503,
    title: 'Server busy',
    detail: 'The server is overloaded; this request wrote nothing',
  },
  HTTP_VERSION_NOT_SUPPORTED: { status: 505, title: 'Version not supported' },
  // Errors of plugins and custom routes have their own status, which replaces this one.
  HTTP_REFUSED: { status: 400, title: 'Refused' },
  HTTP_ROUTE_TIMEOUT: {
    status: 504,
    title: 'Route timed out',
    detail: 'The route did not answer in time; whether it took effect is unknown',
  },
  HTTP_INTERNAL: {
    status: 500,
    title: 'Internal error',
    detail: 'The request failed. The cause is in the server log',
  },
} as const;

/** Codes of refusals by the HTTP layer itself. */
export type HttpCode = keyof typeof HTTP_KINDS;

/** The `code` member of a problem. */
export type ProblemCode = ErrorCode | HttpCode;

/** Status, title and detail of each code. An error without a title is internal. */
export const PROBLEM_KINDS: Readonly<Record<ProblemCode, ProblemKind>> = Object.freeze({
  ...(Object.fromEntries(
    Object.entries(ERROR_KINDS).map(([code, kind]) => [
      code,
      'title' in kind ? kind : HTTP_KINDS.HTTP_INTERNAL,
    ]),
  ) as Record<ErrorCode, ProblemKind>),
  ...HTTP_KINDS,
});

/** Kinds of the application's problems, by the `code` of its `ApplicationError`s. */
export type ApplicationProblems = Readonly<Record<string, ProblemKind>>;

const APPLICATION_CODE = /^(?!FW_|HTTP_)[A-Z][A-Z0-9_]*$/;

/** Refuses reserved codes, and statuses that are not errors. @throws ValidationError */
export function checkApplicationProblems(problems: ApplicationProblems): void {
  for (const [code, { status }] of Object.entries(problems)) {
    if (!APPLICATION_CODE.test(code)) {
      throw new ValidationError(
        `Problem code '${code}' must be upper-case letters, digits and underscores, and must not begin with FW_ or HTTP_.`,
      );
    }
    if (!Number.isInteger(status) || status < 400 || status > 599) {
      throw new ValidationError(`Status ${status} of problem code '${code}' must be between 400 and 599.`);
    }
  }
}

/** The `type` member: `FW_MODEL_NOT_FOUND` -> `urn:fw-actions:problem:model-not-found`. Stable, one per code. */
export function problemType(code: string): string {
  return `urn:fw-actions:problem:${code.replace(/^FW_/, '').toLowerCase().replaceAll('_', '-')}`;
}
