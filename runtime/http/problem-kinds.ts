import { type ErrorCode, ValidationError } from '../errors.js';

/** Codes of refusals by the HTTP layer itself. All other problems have the `ErrorCode` of their error. */
export type HttpCode =
  | 'HTTP_MALFORMED_REQUEST'
  | 'HTTP_MALFORMED_BODY'
  | 'HTTP_NOT_FOUND'
  | 'HTTP_METHOD_NOT_ALLOWED'
  | 'HTTP_NOT_ACCEPTABLE'
  | 'HTTP_REQUEST_TIMEOUT'
  | 'HTTP_BODY_TOO_LARGE'
  | 'HTTP_MISDIRECTED'
  | 'HTTP_URI_TOO_LONG'
  | 'HTTP_UNSUPPORTED_MEDIA_TYPE'
  | 'HTTP_HEADERS_TOO_LARGE'
  | 'HTTP_EXPECTATION_FAILED'
  | 'HTTP_METHOD_NOT_IMPLEMENTED'
  | 'HTTP_BUSY'
  | 'HTTP_VERSION_NOT_SUPPORTED'
  | 'HTTP_REFUSED'
  | 'HTTP_ROUTE_TIMEOUT'
  | 'HTTP_INTERNAL';

/** The `code` member of a problem. */
export type ProblemCode = ErrorCode | HttpCode;

/** The common properties of all problems of one code. */
export interface ProblemKind {
  readonly status: number;
  readonly title: string;
  /** A fixed text instead of the error's message, which may contain hosts, tables or SQL. Default: the message. */
  readonly detail?: string;
}

const INTERNAL: ProblemKind = {
  status: 500,
  title: 'Internal error',
  detail: 'The request failed. The cause is in the server log',
};

const REFUSED_BY_DATA = { status: 409, title: 'Conflict with stored data' };

/** The only mapping of errors to statuses. The compiler checks that no code is missing. */
const ERROR_KINDS: Readonly<Record<ErrorCode, ProblemKind>> = {
  FW_VALIDATION: { status: 400, title: 'Invalid input' },
  FW_CROSS_SHARD: { status: 400, title: 'More than one shard' },
  FW_UNAUTHENTICATED: { status: 401, title: 'Not authenticated' },
  FW_FORBIDDEN: { status: 403, title: 'Forbidden' },
  FW_MODEL_NOT_FOUND: { status: 404, title: 'Not found' },
  FW_UNKNOWN_SHARD: { status: 404, title: 'Unknown shard' },
  FW_REFUSED: { status: 409, title: 'Refused' },
  FW_STALE_MODEL: { status: 409, title: 'Concurrent update' },
  FW_KEY_BUSY: { status: 409, title: 'Same request still running' },
  FW_UNIQUE_VIOLATION: { ...REFUSED_BY_DATA, detail: 'A record with the same unique value exists' },
  FW_DUPLICATE_KEY: { ...REFUSED_BY_DATA, detail: 'Two records of one request have the same unique value' },
  FW_CONSTRAINT_VIOLATION: { ...REFUSED_BY_DATA, detail: 'The change violates a rule of the stored data' },
  FW_PRECONDITION_FAILED: { status: 412, title: 'Precondition failed' },
  FW_TOO_MANY_REQUESTS: { status: 429, title: 'Too many requests' },
  FW_KEY_REUSED: { status: 422, title: 'Idempotency key used before' },
  FW_ISSUER_UNAVAILABLE: {
    status: 503,
    title: 'Callers cannot be verified',
    detail: 'The issuer of the token cannot be reached; nothing was written',
  },
  FW_ROW_BUSY: {
    status: 503,
    title: 'Busy',
    detail: 'The record is locked by another request; nothing was written',
  },
  FW_SHARD_UNAVAILABLE: {
    status: 503,
    title: 'Shard unavailable',
    detail: 'The shard cannot be reached; nothing was written',
  },
  FW_SHARD_BUSY: {
    status: 503,
    title: 'Shard busy',
    detail: 'The shard is overloaded; nothing was written',
  },
  FW_DEADLINE_EXCEEDED: {
    status: 503,
    title: 'Deadline exceeded',
    detail: 'The deadline passed; nothing was written',
  },
  FW_ABORTED: { status: 503, title: 'Aborted', detail: 'The request was aborted; nothing was written' },
  FW_CLOSED: { status: 503, title: 'Closing', detail: 'The server is shutting down; nothing was written' },
  FW_COMMIT_OUTCOME_UNKNOWN: { status: 504, title: 'Outcome unknown' },
  FW_OUTCOME_FORGOTTEN: { status: 410, title: 'Outcome no longer known' },
  FW_CROSS_SHARD_PARTIAL: {
    status: 500,
    title: 'Partially applied',
    detail: 'Some shards have committed and another one failed',
  },
  FW_SHARD_IDENTITY: INTERNAL,
  FW_DATABASE: INTERNAL,
  FW_WRITE_IN_PERFORM: INTERNAL,
  FW_NESTED_EXECUTION: INTERNAL,
  FW_PLAN_MISUSE: INTERNAL,
  FW_UNKNOWN_ACTION: INTERNAL,
  FW_UNKNOWN_MODEL: INTERNAL,
  FW_CODEGEN_VERSION: INTERNAL,
  FW_CONFIGURATION: INTERNAL,
  FW_EMBEDDED_DATABASE_LOCKED: INTERNAL,
  FW_PACKAGE_MISSING: INTERNAL,
  FW_UNSAFE_SERVER: INTERNAL,
  FW_MIGRATION: INTERNAL,
  FW_MIGRATION_ORDER: INTERNAL,
  FW_RELOAD_REFUSED: INTERNAL,
  FW_EVENT_EPOCH: INTERNAL,
  FW_UNKNOWN_HANDLER: { status: 404, title: 'Unknown handler' },
  FW_JOURNAL: { status: 409, title: 'Journal entry refused' },
  FW_LOCK_TIMEOUT: {
    status: 503,
    title: 'Resource locked',
    detail: 'Another request holds the lock; try again later',
  },
  FW_LOCK_LOST: { status: 500, title: 'Lock lost', detail: 'The work outlasted the hold time of its lock' },
};

const HTTP_KINDS: Readonly<Record<HttpCode, ProblemKind>> = {
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
    detail: 'The server is overloaded; nothing was written',
  },
  HTTP_VERSION_NOT_SUPPORTED: { status: 505, title: 'Version not supported' },
  // Errors of plugins and custom routes have their own status, which replaces this one.
  HTTP_REFUSED: { status: 400, title: 'Refused' },
  HTTP_ROUTE_TIMEOUT: {
    status: 504,
    title: 'Route timed out',
    detail: 'The route did not answer in time; whether it took effect is unknown',
  },
  HTTP_INTERNAL: INTERNAL,
};

/** Status, title and detail of each code. */
export const PROBLEM_KINDS: Readonly<Record<ProblemCode, ProblemKind>> = Object.freeze({
  ...ERROR_KINDS,
  ...HTTP_KINDS,
});

/** Kinds of the application's problems, by the `code` of its `ApplicationError`s. */
export type ApplicationProblems = Readonly<Record<string, ProblemKind>>;

/** The kind of an `ApplicationError` with an unregistered code. */
export const UNREGISTERED: ProblemKind = ERROR_KINDS.FW_REFUSED;

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
