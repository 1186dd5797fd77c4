import { STATUS_CODES } from 'node:http';
import {
  ApplicationError,
  CommitOutcomeUnknownError,
  CrossShardPartialError,
  ForbiddenError,
  FwError,
  ShardBusyError,
  ShardUnavailableError,
  UnauthenticatedError,
  UniqueViolationError,
  ValidationError,
} from '../errors.js';
import {
  type ApplicationProblems,
  type HttpCode,
  PROBLEM_KINDS,
  type ProblemKind,
  problemType,
} from './problem-kinds.js';

/** One mistake in a request's input. */
export interface InputProblem {
  /** The part of the request with the value. Default: the body. */
  readonly in?: 'path' | 'query';
  /** JSON pointer (RFC 6901) into the body, or `/name` of a path or query parameter. */
  readonly pointer: string;
  readonly message: string;
}

/** The part of the request with each of a route's params, by name. */
export type ParamPlaces = ReadonlyMap<string, 'path' | 'query' | 'body'>;

/** A refusal of the HTTP layer itself that no domain error represents. */
export class HttpProblem extends Error {
  readonly code: HttpCode | 'FW_VALIDATION';
  readonly errors: readonly InputProblem[];
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: the status of the code. */
  readonly status: number | undefined;

  constructor(
    code: HttpCode | 'FW_VALIDATION',
    detail: string,
    options: {
      readonly errors?: readonly InputProblem[];
      readonly headers?: Readonly<Record<string, string>>;
      readonly status?: number;
      readonly cause?: unknown;
    } = {},
  ) {
    super(detail, { cause: options.cause });
    this.name = 'HttpProblem';
    this.code = code;
    this.errors = options.errors ?? [];
    this.headers = options.headers ?? {};
    this.status = options.status;
  }
}

/** A problem details object (RFC 9457) and the headers that go with it. */
export interface Problem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Members of the body, except `instance`. */
  readonly body: ProblemBody;
}

interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly errors?: readonly InputProblem[];
  readonly [extension: string]: unknown;
}

/** The default `Retry-After`, in milliseconds. */
const DEFAULT_RETRY_AFTER_MS = 1_000;

/** The route that was called. */
export interface CalledRoute {
  /** Method and path: `GET /wallets/{id}`. */
  readonly name: string;
  /** Places of its params. Any other field gets no pointer. */
  readonly places: ParamPlaces;
}

/** The context of `problemOf`. */
interface ProblemContext {
  /** Undefined: no generated route was called. */
  readonly route?: CalledRoute | undefined;
  /** Kinds of the application's own errors. */
  readonly problems?: ApplicationProblems | undefined;
}

/** Converts any thrown value to a problem. The problem of an unexpected error reveals nothing about it. */
export function problemOf(error: unknown, { route, problems = {} }: ProblemContext = {}): Problem {
  if (error instanceof HttpProblem) return httpProblem(error);
  if (error instanceof ApplicationError) {
    const kind = Object.hasOwn(problems, error.code) ? problems[error.code] : undefined;
    const problem = build(error.code, kind ?? PROBLEM_KINDS.FW_REFUSED, error.message);
    return { ...problem, headers: waitHeaders(error, problem.status) };
  }
  // A subclass may have a code that is not registered.
  if (!(error instanceof FwError && Object.hasOwn(PROBLEM_KINDS, error.code)))
    return build('HTTP_INTERNAL', PROBLEM_KINDS.HTTP_INTERNAL, '');
  const { detail, ...kind } = PROBLEM_KINDS[error.code];
  const shown = detailOf(error, route) ?? detail ?? error.message;
  const { status, body } = build(error.code, kind, shown);
  return { status, headers: headersOf(error), body: { ...body, ...membersOf(error, route?.places) } };
}

function httpProblem({ code, message, headers, errors, status }: HttpProblem): Problem {
  const kind = PROBLEM_KINDS[code];
  const own = status === undefined ? kind : { status, title: STATUS_CODES[status] ?? 'Refused' };
  const { body, ...rest } = build(code, own, message);
  return { ...rest, headers, body: errors.length > 0 ? { ...body, errors } : body };
}

function build(code: string, { status, title, detail }: ProblemKind, message: string): Problem {
  const body = { type: problemType(code), title, status, detail: detail ?? message, code };
  return { status, headers: {}, body };
}

function headersOf(error: FwError): Readonly<Record<string, string>> {
  if (error instanceof UnauthenticatedError) return { 'www-authenticate': error.challenge };
  return waitHeaders(error, PROBLEM_KINDS[error.code].status);
}

/** When a caller who was refused for now may come back. */
function waitHeaders(error: Error, status: number): Readonly<Record<string, string>> {
  if (status !== 503 && status !== 429) return {};
  const waitMs = 'retryAfterMs' in error ? Number(error.retryAfterMs) : DEFAULT_RETRY_AFTER_MS;
  return { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1_000))) };
}

/** What the error means to a caller, who knows routes and fields, not classes and tables. Undefined: its own text. */
function detailOf(error: FwError, route: CalledRoute | undefined): string | undefined {
  if (error instanceof ForbiddenError && error.principal !== undefined)
    return `${error.principal} may not call ${route?.name ?? 'this route'} for this`;
  if (error instanceof UniqueViolationError && error.fields.length > 0)
    return `A record with the same ${error.fields.join(', ')} exists`;
  return undefined;
}

function membersOf(error: FwError, places: ParamPlaces | undefined): Readonly<Record<string, unknown>> {
  if (error instanceof ValidationError) return pointingAt([error.field ?? ''], error.message, places);
  if (error instanceof UniqueViolationError) return pointingAt(error.fields, 'must be unique', places);
  if (error instanceof ShardUnavailableError || error instanceof ShardBusyError)
    return { shard: error.shard };
  if (error instanceof CommitOutcomeUnknownError) return { actionId: error.actionId };
  if (error instanceof CrossShardPartialError) {
    const { committed, failed, notStarted } = error;
    return { committed, failed, notStarted };
  }
  return {};
}

/** Models have fields that are not in the request, such as a sum. */
function pointingAt(
  fields: readonly string[],
  message: string,
  places: ParamPlaces | undefined,
): { readonly errors?: readonly InputProblem[] } {
  const errors = fields.flatMap((field) => {
    const place = places?.get(field);
    const problem = { pointer: `/${escapePointer(field)}`, message };
    return place === undefined ? [] : [place === 'body' ? problem : { in: place, ...problem }];
  });
  return errors.length === 0 ? {} : { errors };
}

/** One segment of a JSON pointer. */
export function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
