import type { ProblemCode } from '../http/problem-kinds.js';

/** Any JSON value. */
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
interface ProblemMembers {
  FW_SHARD_BUSY: { readonly shard: string };
  FW_SHARD_UNAVAILABLE: { readonly shard: string };
  FW_COMMIT_OUTCOME_UNKNOWN: { readonly actionId: string };
  FW_CROSS_SHARD_PARTIAL: { readonly committed: Json; readonly failed: Json; readonly notStarted: Json };
}

/** Codes of the service and of this client. The application adds its own codes. */
type KnownCode =
  | ProblemCode
  /** No attempt got a response in time: the network or the service is down. */
  | 'CLIENT_NO_ANSWER'
  /** The response comes from a proxy, for example, and not from the service. A write may have taken effect. */
  | 'CLIENT_FOREIGN_ANSWER';

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
  /**
   * Whether the write may have taken effect: an attempt was cut off, its answer was not of the service, the service did
   * not know its outcome, or the key was the caller's own and the service failed before it looked the key up.
   */
  readonly mayHaveTakenEffect: boolean = false;

  constructor(code: Code, message: string, facts: Partial<CallError<Code>> & { cause?: unknown } = {}) {
    super(message);
    this.code = code;
    this.status = 0;
    Object.assign(this, facts);
  }
}

/** Whether a call failed with one of these codes; without codes, with any. */
export function failedWith<Code extends KnownCode | (string & {})>(
  error: unknown,
  ...codes: readonly Code[]
): error is CallError<Code> {
  return error instanceof CallError && (codes.length === 0 || codes.includes(error.code as Code));
}
