import type { AddressInfo } from 'node:net';
import fastify, { type FastifyError, type FastifyInstance } from 'fastify';
import type { Metrics } from '../observability/prometheus.js';
import { Answers, pathOf } from './answer.js';
import type { Authenticator } from './authenticator.js';
import { readBody } from './body-reader.js';
import { answerClientError } from './client-error.js';
import { type HealthCheck, Readiness } from './health.js';
import { InputValidators } from './input/input-validator.js';
import { ParamsReader } from './input/request-params.js';
import { DEFAULT_HTTP_LIMITS, type HttpLimits } from './limits.js';
import { jsonLog, type Log } from './log.js';
import { observeAnswers } from './observe-answers.js';
import { addPages } from './pages.js';
import { PathMethods, routerPath } from './path-pattern.js';
import { HttpProblem } from './problem.js';
import { type ApplicationProblems, checkApplicationProblems } from './problem-kinds.js';
import type { RouteDescriptor } from './route.js';
import { compileRoute, type Executes } from './route-handler.js';

/** What an HTTP server is made of. */
export interface HttpServerOptions {
  readonly routes: readonly RouteDescriptor[];
  readonly executor: Executes;
  /** The OpenAPI document: `/openapi.json`, and what `/docs` is rendered from. */
  readonly openApi: object;
  readonly authenticator: Authenticator;
  readonly health: HealthCheck;
  /** Heading of `/docs`. Default: the document's `info.title`. */
  readonly title?: string;
  readonly limits?: Partial<HttpLimits>;
  /** Status and title of the application's own errors, by code. Default: each is answered with 409. */
  readonly problems?: ApplicationProblems;
  /** Serves `/metrics` and is told of every answer. Default: neither. */
  readonly metrics?: Metrics;
  /** Default: one line of JSON per entry, to stderr. */
  readonly log?: Log;
}

/** Where a server listens. */
export interface ListenAddress {
  /** As asked for. */
  readonly host: string;
  /** The real port, also when 0 was asked for. */
  readonly port: number;
  /** `http://127.0.0.1:8080`, with brackets around IPv6 addresses. */
  readonly url: string;
}

/** A server for the routes of one application. */
export interface HttpServer {
  /** The Fastify instance below, for what this package does not offer. Routes are already added. */
  readonly fastify: FastifyInstance;
  /** @throws the system's error, for instance with code `EADDRINUSE` */
  listen(address: { readonly host: string; readonly port: number }): Promise<ListenAddress>;
  /**
   * Stops accepting, answers what is under way, closes idle connections, and what is left after `graceMs`
   * (default 10,000). Later calls wait for the first.
   */
  close(graceMs?: number): Promise<void>;
}

/** A closing server looks so often whether anything is left to answer, in milliseconds. */
const LOOK_EVERY_MS = 25;
/** Requests that have begun to arrive may do so for this long once the server closes, in milliseconds. */
const ARRIVE_WITHIN_MS = 1_000;
const READING = ['GET', 'HEAD'] as const;
/** Longest path parameter that reaches validation. */
const LONGEST_PARAMETER = 2_048;

/** Makes a server; nothing listens yet. @throws ValidationError for a route that cannot be served */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const limits: HttpLimits = { ...DEFAULT_HTTP_LIMITS, ...options.limits };
  const log = options.log ?? jsonLog();
  if (options.problems !== undefined) checkApplicationProblems(options.problems);
  const answers = new Answers(log, options.problems);
  const paths = new PathMethods();
  const server = createFastify(limits, answers);
  if (options.metrics !== undefined) observeAnswers(server, options.metrics, options.routes);
  addBodyReader(server, limits.bodyBytes);
  addRoutes(server, options, { limits, answers, paths });
  const readiness = new Readiness(options.health);
  const { openApi, title, metrics } = options;
  addPages({ server, answers, readiness, openApi, title, metrics, paths });
  addFallbacks(server, answers, paths);
  let closed: Promise<void> | undefined;
  return {
    fastify: server,
    listen: async ({ host, port }) => {
      const { notice } = options.authenticator;
      if (notice !== undefined) log({ level: 'warn', message: notice });
      await server.listen({ host, port });
      return addressOf(server, host);
    },
    close: (graceMs = 10_000) => {
      answers.closing = true;
      closed ??= drain(server, answers, graceMs);
      return closed;
    },
  };
}

function createFastify(limits: HttpLimits, answers: Answers): FastifyInstance {
  const server = fastify({
    http: {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: Math.min(500, limits.headersTimeoutMs),
      insecureHTTPParser: false,
    },
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    // Queries are read by each route, strictly.
    routerOptions: { maxParamLength: LONGEST_PARAMETER, querystringParser: () => ({}) },
    return503OnClosing: false,
    exposeHeadRoutes: true,
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => answers.fail(request.raw, reply.raw, translate(error)),
  });
  // Fastify would not look at their bodies, and routes refuse what they do not take.
  for (const method of READING) server.addHttpMethod(method, { hasBody: true, overrideExisting: true });
  return server;
}

function addBodyReader(server: FastifyInstance, limit: number): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (request, payload, done) => {
    readBody(payload, request.headers['content-length'], limit, done);
  });
}

function addRoutes(
  server: FastifyInstance,
  { routes, executor, authenticator }: HttpServerOptions,
  {
    limits,
    answers,
    paths,
  }: { readonly limits: HttpLimits; readonly answers: Answers; readonly paths: PathMethods },
): void {
  const validators = new InputValidators();
  for (const route of routes) {
    const reader = new ParamsReader(route, validators, limits.nestingDepth);
    const handler = compileRoute(route, reader, { executor, authenticator, answers });
    paths.add(route.method, route.path);
    server.route({ method: route.method, url: routerPath(route.path), handler });
  }
}

/** What no route serves: 204 for OPTIONS and 405 for other methods of a known path, else 404. */
function addFallbacks(server: FastifyInstance, answers: Answers, paths: PathMethods): void {
  server.setNotFoundHandler(({ raw: request }, { raw: response }) => {
    const path = pathOf(request.url);
    const allow = paths.allowed(path);
    if (allow !== undefined && request.method === 'OPTIONS') {
      answers.sendEmpty(response, 204, { allow });
      return;
    }
    answers.fail(request, response, notFound(path, request.method ?? '', allow));
  });
  server.setErrorHandler((error: FastifyError, request, reply) => {
    answers.fail(request.raw, reply.raw, translate(error));
  });
}

function notFound(path: string, method: string, allow: string | undefined): HttpProblem {
  if (/%00/.test(path)) return new HttpProblem('HTTP_MALFORMED_REQUEST', 'The path contains NUL');
  if (allow === undefined)
    return new HttpProblem('HTTP_NOT_FOUND', `Nothing is served at ${path.slice(0, 256)}`);
  return new HttpProblem('HTTP_METHOD_NOT_ALLOWED', `${method} is not allowed here; allowed are ${allow}`, {
    headers: { allow },
  });
}

/** Fastify's own refusals in our words. Everything else is what a handler threw. */
function translate(error: Error & { readonly code?: string }): unknown {
  switch (error.code) {
    case 'FST_ERR_BAD_URL':
      return new HttpProblem('HTTP_MALFORMED_REQUEST', 'The path is not valid percent-encoded UTF-8');
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new HttpProblem('HTTP_URI_TOO_LONG', 'A part of the path is too long');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new HttpProblem('HTTP_UNSUPPORTED_MEDIA_TYPE', 'The content type is not valid');
    default:
      return error;
  }
}

function addressOf(server: FastifyInstance, host: string): ListenAddress {
  // The server listens on TCP, so that its address is no string.
  const { port } = server.server.address() as AddressInfo;
  return { host, port, url: `http://${host.includes(':') ? `[${host}]` : host}:${port}` };
}

async function drain(server: FastifyInstance, answers: Answers, graceMs: number): Promise<void> {
  const startMs = performance.now();
  // Node waits for connections that have sent nothing or only half a request, and no longer times them out.
  const sweep = setInterval(() => {
    const elapsedMs = performance.now() - startMs;
    const isDone = answers.pending === 0 && elapsedMs >= ARRIVE_WITHIN_MS;
    if (isDone || elapsedMs >= graceMs) server.server.closeAllConnections();
  }, LOOK_EVERY_MS);
  try {
    await server.close();
  } finally {
    clearInterval(sweep);
  }
}
