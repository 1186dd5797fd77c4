/**
 * The codes of all errors thrown on purpose, with the HTTP problem of each: its status, its title, and a fixed text in
 * place of a message that may contain hosts, tables or SQL. Without a title it is an internal error.
 */
export const ERROR_KINDS = {
  FW_VALIDATION: { status: 400, title: 'Invalid input' },
  FW_CROSS_SHARD: { status: 400, title: 'More than one shard' },
  FW_UNAUTHENTICATED: { status: 401, title: 'Not authenticated' },
  FW_FORBIDDEN: { status: 403, title: 'Forbidden' },
  FW_MODEL_NOT_FOUND: { status: 404, title: 'Not found' },
  FW_UNKNOWN_SHARD: { status: 404, title: 'Unknown shard' },
  FW_REFUSED: { status: 409, title: 'Refused' },
  FW_STALE_MODEL: { status: 409, title: 'Concurrent update' },
  FW_KEY_BUSY: { status: 409, title: 'Same request still running' },
  FW_UNIQUE_VIOLATION: {
    status: 409,
    title: 'Conflict with stored data',
    detail: 'A record with the same unique value exists',
  },
  FW_DUPLICATE_KEY: {
    status: 409,
    title: 'Conflict with stored data',
    detail: 'Two records of one request have the same unique value',
  },
  FW_CONSTRAINT_VIOLATION: {
    status: 409,
    title: 'Conflict with stored data',
    detail: 'The change violates a rule of the stored data',
  },
  FW_PRECONDITION_FAILED: { status: 412, title: 'Precondition failed' },
  FW_TOO_MANY_REQUESTS: { status: 429, title: 'Too many requests' },
  FW_KEY_REUSED: { status: 422, title: 'Idempotency key used before' },
  FW_ISSUER_UNAVAILABLE: {
    status: 503,
    title: 'Callers cannot be verified',
    detail: 'The keys of the issuer of the token are not available; this request wrote nothing',
  },
  FW_ROW_BUSY: {
    status: 503,
    title: 'Busy',
    detail: 'The record is locked by another request; this request wrote nothing',
  },
  FW_SHARD_UNAVAILABLE: {
    status: 503,
    title: 'Shard unavailable',
    detail: 'The shard cannot be reached; this request wrote nothing',
  },
  FW_SHARD_BUSY: {
    status: 503,
    title: 'Shard busy',
    detail: 'The shard is overloaded; this request wrote nothing',
  },
  FW_DEADLINE_EXCEEDED: {
    status: 503,
    title: 'Deadline exceeded',
    detail: 'The deadline passed; this request wrote nothing',
  },
  FW_ABORTED: {
    status: 503,
    title: 'Aborted',
    detail: 'The request was aborted; this request wrote nothing',
  },
  FW_RETRY_LATER: {
    status: 503,
    title: 'Try again later',
    detail: 'A receiver is down; this request wrote nothing',
  },
  FW_CLOSED: {
    status: 503,
    title: 'Closing',
    detail: 'The server is shutting down; this request wrote nothing',
  },
  FW_COMMIT_OUTCOME_UNKNOWN: { status: 504, title: 'Outcome unknown' },
  FW_OUTCOME_FORGOTTEN: { status: 410, title: 'Outcome no longer known' },
  FW_CROSS_SHARD_PARTIAL: {
    status: 500,
    title: 'Partially applied',
    detail: 'Some shards have committed and another one failed',
  },
  FW_SHARD_IDENTITY: { status: 500 },
  FW_DATABASE: { status: 500 },
  FW_WRITE_IN_PERFORM: { status: 500 },
  FW_NESTED_EXECUTION: { status: 500 },
  FW_PLAN_MISUSE: { status: 500 },
  FW_UNKNOWN_ACTION: { status: 500 },
  FW_UNKNOWN_MODEL: { status: 500 },
  FW_CODEGEN_VERSION: { status: 500 },
  FW_CONFIGURATION: { status: 500 },
  FW_EMBEDDED_DATABASE_LOCKED: { status: 500 },
  FW_PACKAGE_MISSING: { status: 500 },
  FW_UNSAFE_SERVER: { status: 500 },
  FW_MIGRATION: { status: 500 },
  FW_MIGRATION_ORDER: { status: 500 },
  FW_RELOAD_REFUSED: { status: 500 },
  FW_EVENT_EPOCH: { status: 500 },
  FW_UNKNOWN_HANDLER: { status: 404, title: 'Unknown handler' },
  FW_JOURNAL: { status: 409, title: 'Journal entry refused' },
  FW_LOCK_TIMEOUT: {
    status: 503,
    title: 'Resource locked',
    detail: 'Another request holds the lock; try again later',
  },
  FW_LOCK_LOST: { status: 500, title: 'Lock lost', detail: 'The work outlasted the hold time of its lock' },
} as const;

/** Codes of all errors thrown on purpose. */
export type ErrorCode = keyof typeof ERROR_KINDS;
