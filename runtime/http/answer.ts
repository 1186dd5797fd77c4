import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { CredentialMissing } from '../access/authenticator.js';
import { time } from '../concurrency/time.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { ForbiddenError } from '../errors.js';
import { LogLimiter } from '../observability/log-limiter.js';
import { errorFacts, type LogEntry, type Logger } from '../observability/logger.js';
import type { Metrics, RefusalReason } from '../observability/prometheus.js';
import { NO_SHARD } from './admission/admission.js';
import type { Connections } from './connection/connections.js';
import { type CalledRoute, type Problem, problemOf } from './problem.js';
import type { ApplicationProblems } from './problem-kinds.js';
import { requestIdOf } from './request-id.js';
import type { SecurityHeaders } from './security-headers.js';

/** Time for which the rest of a refused body is read and discarded before the connection is closed, in milliseconds. */
const LINGER_MS = 2_000;
/** Maximum logged faults of one source position per second; the answers to the others have no `requestId`. */
const FAULTS_PER_SECOND = 10;

/** Statuses of refusals whose body may still be arriving: too large, or not requested yet. */
const LINGERING: ReadonlySet<number> = new Set([413, 417]);
/** Statuses for methods and versions that the server does not support. */
const CALLERS_FAULTS: ReadonlySet<number> = new Set([501, 505]);

/** Options of the answers. */
export interface AnswersOptions {
  readonly log: Logger;
  readonly connections: Connections;
  /** Kinds of the application's errors. */
  readonly problems?: ApplicationProblems | undefined;
  /** Counts refused callers. */
  readonly metrics?: Pick<Metrics, 'refused'> | undefined;
}

/**
 * Writes answers directly to Node's response, because Fastify would inspect each body and content type again. HEAD gets
 * the headers of GET; Node leaves out the body.
 */
export class Answers {
  readonly #log: LogLimiter;
  readonly #connections: Connections;
  readonly #problems: ApplicationProblems | undefined;
  readonly #metrics: AnswersOptions['metrics'];
  /** Set once the server closes. */
  closing = false;
  /** Set once the server no longer listens: each answer then ends its connection. */
  endsConnections = false;

  constructor({ log, connections, problems, metrics }: AnswersOptions) {
    this.#metrics = metrics;
    this.#log = new LogLimiter(log);
    this.#connections = connections;
    this.#problems = problems;
  }

  /** An answer with a body. */
  send(response: ServerResponse, status: number, headers: OutgoingHttpHeaders, body: string | Buffer): void {
    const list = this.complete(response, headers);
    list.push('content-length', Buffer.byteLength(body));
    if (this.mustEnd(response)) list.push('connection', 'close');
    response.writeHead(status, list);
    response.end(body);
  }

  /** An answer without a body (204, 304). */
  sendEmpty(response: ServerResponse, status: number, headers: OutgoingHttpHeaders = {}): void {
    const list = this.complete(response, headers);
    if (status !== 204 && status !== 304) list.push('content-length', 0);
    if (this.mustEnd(response)) list.push('connection', 'close');
    response.writeHead(status, list);
    response.end();
  }

  /** The headers of an answer with its id and the security headers, as `writeHead` takes them. */
  complete(response: ServerResponse, headers: OutgoingHttpHeaders): OutgoingHttpHeader[] {
    const list = this.#connections.headers.complete(response, headers);
    list.push('x-request-id', requestIdOf(response.req));
    return list;
  }

  /** Security headers of answers of custom routes. */
  get customHeaders(): SecurityHeaders['custom'] {
    return this.#connections.headers.custom;
  }

  /** Whether this answer must be the last one of its connection. */
  mustEnd(response: ServerResponse): boolean {
    return this.endsConnections && this.#isLast(response);
  }

  /** Logs that requests are refused: one line per second and shard. */
  refused(shard: number): void {
    const place = shard === NO_SHARD ? {} : { shard: ShardIdentifier.fromBits(shard).toString() };
    const message = 'requests refused: too many are in progress';
    this.#log.write(`refused ${shard}`, () => ({ level: 'warn', message, status: 503, ...place }));
  }

  /** Answers any thrown value with a problem, and logs the server's own faults. */
  fail(request: IncomingMessage, response: ServerResponse, error: unknown, route?: CalledRoute): void {
    if (response.headersSent || response.destroyed) return;
    try {
      this.#fail(request, response, error, route);
    } catch (failure) {
      // The thrown value can be anything, even a proxy that throws when it is read.
      this.#fail(request, response, failure instanceof Error ? failure : undefined, route);
    }
  }

  #fail(request: IncomingMessage, response: ServerResponse, error: unknown, route?: CalledRoute): void {
    const problem = problemOf(error, { route, problems: this.#problems });
    const instance = pathOf(request.url);
    const { type, title, status, detail, ...members } = problem.body;
    const requestId = requestIdOf(request);
    this.#record(problem, request, { instance, requestId, error, route });
    const body = { type, title, status, detail, instance, ...members, requestId };
    const headers = {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      ...problem.headers,
    };
    if (LINGERING.has(problem.status))
      this.#sendAndLinger(request, response, problem, headers, JSON.stringify(body));
    else this.send(response, problem.status, headers, JSON.stringify(body));
  }

  /** Pipelined requests behind this one are answered too. */
  #isLast({ socket }: ServerResponse): boolean {
    return this.#connections.of(socket)?.hasMore !== true;
  }

  #record({ status, body }: Problem, request: IncomingMessage, facts: FailureFacts): void {
    if (status === 401 || status === 403) this.#recordRefusal(status, request, facts);
    if (status < 500 || CALLERS_FAULTS.has(status)) return;
    const { instance, requestId, error } = facts;
    const isFault = status === 500;
    const entry = (): LogEntry => ({
      level: isFault ? 'error' : 'warn',
      message: 'request failed',
      requestId,
      method: request.method,
      path: instance,
      status,
      ...errorFacts(error, isFault),
    });
    const { code, shard = '' } = body;
    const kind = `${code} ${isFault ? thrownAt(error) : String(shard)}`;
    this.#log.write(kind, entry, isFault ? FAULTS_PER_SECOND : 1);
  }

  /** An attack shows as one line per second and route. Credentials are in no message. */
  #recordRefusal(
    status: 401 | 403,
    { method, socket }: IncomingMessage,
    { instance, requestId, error, route }: FailureFacts,
  ): void {
    const reason = refusalReason(error);
    this.#metrics?.refused(status, reason);
    const name = route?.name;
    this.#log.write(`refused ${status} ${reason} ${name ?? ''}`, () => ({
      level: 'warn',
      message: 'caller refused',
      requestId,
      status,
      reason,
      route: name ?? `${method} ${instance}`,
      path: instance,
      address: socket.remoteAddress,
      principal: error instanceof ForbiddenError ? error.principal : undefined,
      detail: error instanceof Error ? error.message : undefined,
    }));
  }

  /**
   * Sends the complete answer, but keeps the connection until the rest of the body has been read: if it were closed
   * with unread data, the kernel would reset it, and the client would not receive the answer.
   */
  #sendAndLinger(
    request: IncomingMessage,
    response: ServerResponse,
    { status }: Problem,
    headers: OutgoingHttpHeaders,
    body: string,
  ): void {
    const all = { ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' };
    response.writeHead(status, this.complete(response, all));
    response.write(body);
    const end = (): void => {
      time.clearTimeout(timer);
      response.end();
    };
    const timer = time.setTimeout(end, LINGER_MS);
    request.once('end', end).once('close', end).resume();
  }
}

/** The facts of a failed request besides its problem. */
interface FailureFacts {
  readonly instance: string;
  readonly requestId: string;
  readonly error: unknown;
  readonly route: CalledRoute | undefined;
}

/** A label of metrics. */
function refusalReason(error: unknown): RefusalReason {
  if (error instanceof ForbiddenError) return error.principal === undefined ? 'reach' : 'rule';
  return error instanceof CredentialMissing ? 'no-credentials' : 'invalid-credentials';
}

/** The first stack frame of an error: faults of one source position are of one kind. */
function thrownAt(error: unknown): string {
  const stack = error instanceof Error ? error.stack : undefined;
  return /\n\s+at .*/.exec(typeof stack === 'string' ? stack : '')?.[0] ?? '';
}

/** The path of a request target, without the query. */
export function pathOf(url = '/'): string {
  const end = url.search(/[?#]/);
  return end === -1 ? url : url.slice(0, end);
}
