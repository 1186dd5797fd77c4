export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** The body of a failed response (RFC 9457), with further members by code. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail?: string;
  readonly instance?: string;
  /** The invalid values: a JSON pointer into the body, or the name of a parameter. */
  readonly errors?: readonly { readonly pointer: string; readonly message: string; readonly in?: string }[];
  /** Identifies the request in the log; equals `X-Request-Id`. */
  readonly requestId?: string;
}

/** Additional members of problems, by code. */
export interface ProblemMembers {
  FW_SHARD_BUSY: { readonly shard: string };
  FW_SHARD_UNAVAILABLE: { readonly shard: string };
  FW_COMMIT_OUTCOME_UNKNOWN: { readonly actionId: string };
  FW_CROSS_SHARD_PARTIAL: { readonly committed: Json; readonly failed: Json; readonly notStarted: Json };
}

/** Codes of the service and of this client. The application adds its own codes. */
export type KnownCode =
  | keyof ProblemMembers
  /** No attempt got a response in time: the network or the service is down. */
  | 'CLIENT_NO_ANSWER'
  /** The response comes from a proxy, for example, and not from the service. */
  | 'CLIENT_FOREIGN_ANSWER'
  | 'FW_ABORTED'
  | 'FW_CLOSED'
  | 'FW_CODEGEN_VERSION'
  | 'FW_CONFIGURATION'
  | 'FW_CONSTRAINT_VIOLATION'
  | 'FW_CROSS_SHARD'
  | 'FW_DATABASE'
  | 'FW_DEADLINE_EXCEEDED'
  | 'FW_DUPLICATE_KEY'
  | 'FW_EMBEDDED_DATABASE_LOCKED'
  | 'FW_EVENT_EPOCH'
  | 'FW_FORBIDDEN'
  | 'FW_ISSUER_UNAVAILABLE'
  | 'FW_JOURNAL'
  | 'FW_KEY_BUSY'
  | 'FW_KEY_REUSED'
  | 'FW_LOCK_LOST'
  | 'FW_LOCK_TIMEOUT'
  | 'FW_MIGRATION'
  | 'FW_MIGRATION_ORDER'
  | 'FW_MODEL_NOT_FOUND'
  | 'FW_NESTED_EXECUTION'
  | 'FW_OUTCOME_FORGOTTEN'
  | 'FW_PACKAGE_MISSING'
  | 'FW_PLAN_MISUSE'
  | 'FW_PRECONDITION_FAILED'
  | 'FW_REFUSED'
  | 'FW_RELOAD_REFUSED'
  | 'FW_ROW_BUSY'
  | 'FW_SHARD_IDENTITY'
  | 'FW_STALE_MODEL'
  | 'FW_TOO_MANY_REQUESTS'
  | 'FW_UNAUTHENTICATED'
  | 'FW_UNIQUE_VIOLATION'
  | 'FW_UNKNOWN_ACTION'
  | 'FW_UNKNOWN_HANDLER'
  | 'FW_UNKNOWN_MODEL'
  | 'FW_UNKNOWN_SHARD'
  | 'FW_UNSAFE_SERVER'
  | 'FW_VALIDATION'
  | 'FW_WRITE_IN_PERFORM'
  | 'HTTP_BODY_TOO_LARGE'
  | 'HTTP_BUSY'
  | 'HTTP_EXPECTATION_FAILED'
  | 'HTTP_HEADERS_TOO_LARGE'
  | 'HTTP_INTERNAL'
  | 'HTTP_MALFORMED_BODY'
  | 'HTTP_MALFORMED_REQUEST'
  | 'HTTP_METHOD_NOT_ALLOWED'
  | 'HTTP_METHOD_NOT_IMPLEMENTED'
  | 'HTTP_MISDIRECTED'
  | 'HTTP_NOT_ACCEPTABLE'
  | 'HTTP_NOT_FOUND'
  | 'HTTP_REFUSED'
  | 'HTTP_REQUEST_TIMEOUT'
  | 'HTTP_ROUTE_TIMEOUT'
  | 'HTTP_UNSUPPORTED_MEDIA_TYPE'
  | 'HTTP_URI_TOO_LONG'
  | 'HTTP_VERSION_NOT_SUPPORTED';

type MembersOf<Code> = Code extends keyof ProblemMembers ? ProblemMembers[Code] : unknown;

/** A failed call. Branch on `code`, never on the message. */
export class CallError<Code extends string = string> extends Error {
  override readonly name: string = 'CallError';
  readonly code: Code;
  /** Status of the last response; 0 if there was none. */
  readonly status: number;
  /** Absent for the codes of this client. */
  readonly problem: (Problem & MembersOf<Code>) | undefined;
  /** The wait that the service requests, in milliseconds; undefined if it requests none. */
  readonly retryAfterMs: number | undefined;
  /** For a write: repeat the call under this key to determine its outcome. */
  readonly idempotencyKey: string | undefined;
  /** Whether the write may have taken effect: an attempt was cut off, or the service did not know its outcome. */
  readonly mayHaveTakenEffect: boolean = false;

  constructor(code: Code, message: string, facts: Partial<CallError<Code>> & { cause?: unknown } = {}) {
    super(message);
    this.code = code;
    this.status = 0;
    Object.assign(this, facts);
  }
}

/** Whether a call failed with one of these codes. */
export function failedWith<Code extends KnownCode | (string & {})>(
  error: unknown,
  ...codes: readonly Code[]
): error is CallError<Code> {
  return error instanceof CallError && codes.includes(error.code as Code);
}
