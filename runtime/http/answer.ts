import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CredentialMissing } from '../access/authenticator.js';
import { LogLimiter } from '../concurrency/log-limiter.js';
import { errorFacts, type LogEntry, type Logger } from '../domain/logger.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { ForbiddenError } from '../errors.js';
import type { Metrics, RefusalReason } from '../observability/prometheus.js';
import { traceIds } from '../tracing.js';
import type { Places } from './busy.js';
import { NO_SHARD } from './path-shard.js';
import { type CalledRoute, type Problem, problemOf } from './problem.js';
import type { ApplicationProblems } from './problem-kinds.js';
import { pathOf } from './request-head.js';
import { spanOf } from './request-span.js';

/** Maximum logged faults of one source position per second; the answers to the others have no `requestId`. */
const FAULTS_PER_SECOND = 10;

/** Statuses for methods and versions that the server does not support. */
const CALLERS_FAULTS: ReadonlySet<number> = new Set([501, 505]);

const PROBLEM_HEADERS = { 'content-type': 'application/problem+json', 'cache-control': 'no-store' };

/** Options of the answers. */
export interface AnswersOptions {
  readonly log: Logger;
  /** Kinds of the application's errors. */
  readonly problems?: ApplicationProblems | undefined;
  /** Counts refused callers. */
  readonly metrics?: Pick<Metrics, 'refused'> | undefined;
}

/** A text with its own content type, which Fastify would otherwise extend by a charset. */
const asItIs = (payload: unknown): string => String(payload);

/** Writes answers through Fastify's reply. */
export class Answers {
  readonly #log: LogLimiter;
  readonly #problems: ApplicationProblems | undefined;
  readonly #metrics: AnswersOptions['metrics'];
  /** Set once the server closes. */
  closing = false;

  constructor({ log, problems, metrics }: AnswersOptions) {
    this.#metrics = metrics;
    this.#log = new LogLimiter(log);
    this.#problems = problems;
  }

  /** An answer with a body. */
  send(reply: FastifyReply, status: number, headers: OutgoingHttpHeaders, body: string | Buffer): void {
    if (typeof body === 'string') reply.serializer(asItIs);
    reply.code(status).headers(headers).send(body);
  }

  /** An answer without a body (204, 304). */
  sendEmpty(reply: FastifyReply, status: number, headers: OutgoingHttpHeaders = {}): void {
    reply.code(status).headers(headers).send();
  }

  /** Answers a request without a place with 503. Logs one line per second and shard. */
  refuse(
    request: FastifyRequest,
    reply: FastifyReply,
    { places, shard }: { readonly places: Places; readonly shard: number },
  ): void {
    const problem = problemOf(places.refuse(shard));
    const place = shard === NO_SHARD ? {} : { shard: ShardIdentifier.fromBits(shard).toString() };
    const message = 'requests refused: too many are in progress';
    this.#log.write(`refused ${shard}`, () => ({ level: 'warn', message, status: 503, ...place }));
    this.#sendProblem(request, reply, problem);
  }

  /** Answers any thrown value with a problem, and logs the server's own faults. */
  fail(request: FastifyRequest, reply: FastifyReply, error: unknown, route?: CalledRoute): void {
    if (reply.sent || reply.raw.destroyed) return;
    try {
      this.#fail(request, reply, error, route);
    } catch (failure) {
      // The thrown value can be anything, even a proxy that throws when it is read.
      this.#fail(request, reply, failure instanceof Error ? failure : undefined, route);
    }
  }

  #fail(request: FastifyRequest, reply: FastifyReply, error: unknown, route?: CalledRoute): void {
    const problem = problemOf(error, { route, problems: this.#problems });
    this.#record(problem, request, { error, route });
    this.#sendProblem(request, reply, problem);
  }

  #sendProblem(request: FastifyRequest, reply: FastifyReply, { status, headers, body }: Problem): void {
    const { type, title, status: shown, detail, ...members } = body;
    const instance = pathOf(request.raw.url);
    const text = { type, title, status: shown, detail, instance, ...members, requestId: request.id };
    this.send(reply, status, { ...PROBLEM_HEADERS, ...headers }, JSON.stringify(text));
  }

  #record({ status, body }: Problem, request: FastifyRequest, facts: FailureFacts): void {
    if (status === 401 || status === 403) this.#recordRefusal(status, request, facts);
    if (status < 500 || CALLERS_FAULTS.has(status)) return;
    const { error } = facts;
    const isFault = status === 500;
    const entry = (): LogEntry => ({
      level: isFault ? 'error' : 'warn',
      message: 'request failed',
      requestId: request.id,
      ...traceIds(spanOf(request)),
      method: request.method,
      path: pathOf(request.raw.url),
      status,
      ...errorFacts(error, isFault),
    });
    const { code, shard = '' } = body;
    const kind = `${code} ${isFault ? thrownAt(error) : String(shard)}`;
    this.#log.write(kind, entry, isFault ? FAULTS_PER_SECOND : 1);
  }

  /** An attack shows as one line per second and route. Credentials are in no message. */
  #recordRefusal(status: 401 | 403, request: FastifyRequest, { error, route }: FailureFacts): void {
    const { method, socket, id: requestId, raw } = request;
    const reason = refusalReason(error);
    this.#metrics?.refused(status, reason);
    const path = pathOf(raw.url);
    // A custom route has its pattern: paths contain ids. A path without a route has none.
    const { url: pattern } = request.routeOptions;
    const name = route?.name ?? (pattern === undefined ? undefined : `${method} ${pattern}`);
    this.#log.write(`refused ${status} ${reason} ${name ?? ''}`, () => ({
      level: 'warn',
      message: 'caller refused',
      requestId,
      ...traceIds(spanOf(request)),
      status,
      reason,
      route: name ?? `${method} ${path}`,
      path,
      address: socket.remoteAddress,
      principal: error instanceof ForbiddenError ? error.principal : undefined,
      detail: error instanceof Error ? error.message : undefined,
    }));
  }
}

/** The facts of a failed request besides its problem. */
interface FailureFacts {
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
