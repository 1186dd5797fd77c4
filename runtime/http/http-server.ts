import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyPluginCallback,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import type { Authenticator } from '../access/authenticator.js';
import type { RequestLimits } from '../access/request-limits.js';
import type { ActionRegistry } from '../action/action-registry.js';
import type { FwConfig } from '../config/types.js';
import { FwError } from '../errors.js';
import { defaultLogger, type Logger } from '../observability/logger.js';
import type { Metrics } from '../observability/prometheus.js';
import { safeLogger } from '../observability/safe-logger.js';
import { Answers } from './answer.js';
import { readBody } from './body-reader.js';
import { BrowserHeaders } from './browser-headers.js';
import { Places } from './busy.js';
import { answerClientError, refuseTunnel } from './client-error.js';
import { FastifyLog, requestLines } from './fastify-log.js';
import type { LiveFeeds } from './feed/live-feeds.js';
import type { HealthCheck } from './health.js';
import { ParamsReader } from './input/request-params.js';
import { type HttpLimits, httpLimits } from './limits.js';
import { Listeners } from './listeners.js';
import { OpenConnections } from './open-connections.js';
import { addPages } from './pages.js';
import { HttpProblem } from './problem.js';
import { type ApplicationProblems, checkApplicationProblems } from './problem-kinds.js';
import { checkHead, pathOf, pathOfTarget } from './request-head.js';
import { requestIdOf } from './request-id.js';
import { traceOf, traceRequest } from './request-span.js';
import type { RouteDescriptor } from './route.js';
import { compileRoute, type Executes } from './route-handler.js';
import { RoutePaths, routerPath } from './route-paths.js';
import { RouteToolbox } from './route-tools.js';
import type { ServerCertificate } from './server-certificate.js';
import { addForeignBodyReader, adoptRoute, dropInvalidHeaders, refusingHook } from './server-extension.js';
import type { CustomRoutes, ServerPlugin } from './server-plugin.js';
import { answerUnserved, translateRefusal } from './unserved.js';

/** Options of an HTTP server. */
export interface HttpServerOptions {
  readonly routes: readonly RouteDescriptor[];
  readonly executor: Executes;
  /** The actions, whose params are checked in custom routes. Default: no param is. */
  readonly actions?: Pick<ActionRegistry, 'find'> | undefined;
  /** The OpenAPI document, served at `/openapi.json` and rendered at `/docs`. Default: neither is served. */
  readonly openApi?: object | undefined;
  readonly authenticator: Authenticator;
  readonly health: HealthCheck;
  /** Limits of each caller. Default: none. */
  readonly callers?: RequestLimits | undefined;
  /** Whether routes are refused if their actions have no rule. Default false. */
  readonly denyByDefault?: boolean | undefined;
  /** Names that `Host` may have, without port. Default: any. */
  readonly hosts?: readonly string[] | undefined;
  /** Heading of `/docs`. Default: the document's `info.title`. */
  readonly title?: string | undefined;
  readonly limits?: Partial<HttpLimits> | undefined;
  /** Undefined: the server speaks HTTP instead of HTTPS. */
  readonly certificate?: ServerCertificate | undefined;
  /** How long browsers must use only HTTPS, in seconds. Default 0: the header is absent. */
  readonly strictTransportSeconds?: number | undefined;
  /** Pages of other origins that may call the server. Default: none. */
  readonly cors?: FwConfig['http']['cors'];
  /** Status and title of the application's errors, by code. Default: each is answered with 409. */
  readonly problems?: ApplicationProblems | undefined;
  /** Serves `/metrics` and records every answer. Default: neither. */
  readonly metrics?: Metrics | undefined;
  /**
   * Fastify plugins, in order. Hooks of those that `fastify-plugin` wraps apply to generated routes too. Default none.
   */
  readonly plugins?: readonly ServerPlugin[] | undefined;
  /** Adds routes beside the generated ones. Default none. */
  readonly customRoutes?: CustomRoutes | undefined;
  /** Streams of events, for routes with a feed. They end when the server closes. Default: no route has one. */
  readonly feeds?: LiveFeeds | undefined;
  /** A pino logger, or one like it. Default: pino, one line of JSON per entry, to stderr. */
  readonly log?: Logger | undefined;
}

/** The address of a server. */
export interface ListenAddress {
  /** The requested host. */
  readonly host: string;
  /** The actual port, even if 0 was requested. */
  readonly port: number;
  /** `http://127.0.0.1:8080`, with brackets around IPv6 addresses. */
  readonly url: string;
}

/** A server for the routes of one application. */
export interface HttpServer {
  /**
   * The underlying Fastify instance, for features that this package does not offer. Routes are added when it is ready.
   */
  readonly fastify: FastifyInstance;
  /**
   * @throws the system's error, for instance with code `EADDRINUSE` @throws PluginError @throws ValidationError for two
   * routes of one path
   */
  listen(address: { readonly host: string; readonly port: number }): Promise<ListenAddress>;
  /**
   * Stops listening and answers requests in progress; each answer ends its connection. Idle connections are closed
   * after a second, all others after `graceMs` (default 10,000). Later calls wait for the first. Until the
   * server has stopped listening (at most 5 s), answers keep connections: their clients would reconnect to this server.
   *
   * @param other work that needs what plugins close. They are closed once it has ended, too
   */
  close(graceMs?: number, other?: Promise<void>): Promise<void>;
}

const READING = ['GET', 'HEAD'] as const;
/** Clients that the kernel connects before the process accepts them; the kernel has a limit of its own. */
const BACKLOG = 4_096;
/** Maximum length of a path parameter that is validated. */
const LONGEST_PARAMETER = 2_048;

/** A plugin, or the function that adds custom routes, failed while the server started. */
export class PluginError extends Error {}

/** The parts that all requests pass. */
function edgeOf(options: HttpServerOptions) {
  const limits = httpLimits(options.limits);
  const { metrics, problems, feeds, certificate, hosts = [], strictTransportSeconds = 0 } = options;
  const log = safeLogger(options.log, defaultLogger());
  return {
    ...{ limits, log, metrics, certificate },
    answers: new Answers({ log, problems, metrics }),
    paths: new RoutePaths(),
    connections: new OpenConnections(),
    places: new Places(limits, feeds),
    headers: new BrowserHeaders(strictTransportSeconds, options.cors),
    hosts: new Set(hosts.map((each) => each.toLowerCase())),
    tools: new RouteToolbox({ ...options, log, nestingDepth: limits.nestingDepth }),
  };
}

type Edge = ReturnType<typeof edgeOf>;

/** Creates a server, which does not listen yet. @throws ValidationError for a route that cannot be served */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  if (options.problems !== undefined) checkApplicationProblems(options.problems);
  const edge = edgeOf(options);
  const { limits, answers, connections, log, paths, places, tools } = edge;
  options.metrics?.watchBusy(places);
  const server = createFastify(edge);
  server.addHook('onRoute', (route) => {
    paths.add(route.method, route.url);
    if (route.config?.isOwn !== true) adoptRoute(route, { answers, places, tools });
  });
  addHooks(server, edge);
  addForeignBodyReader(server, limits.nestingDepth);
  const failures = addPlugins(server, options.plugins ?? []);
  addRoutes(server, options, edge);
  const { customRoutes } = options;
  if (customRoutes !== undefined) {
    server.register(async (scope) => customRoutes(scope, tools));
    server.after(noteFailure(failures, 'The function `routes`'));
  }
  const scheme = options.certificate === undefined ? 'http' : 'https';
  server.register((scope, _options, done) => {
    addPages({ ...options, server: scope, answers, scheme });
    done();
  });
  const listeners = new Listeners(server.server);
  let closed: Promise<void> | undefined;
  return {
    fastify: server,
    listen: async ({ host, port }) => {
      const { notice } = options.authenticator;
      if (notice !== undefined) log.warn({}, notice);
      await server.ready();
      for (const failure of failures) throw failure;
      const actual = await listeners.listen({ host, port, backlog: BACKLOG }, (where) =>
        server.listen({ ...where, listenTextResolver: () => '' }),
      );
      const shown = host.includes(':') ? `[${host}]` : host;
      return { host, port: actual, url: `${scheme}://${shown}:${actual}` };
    },
    close(graceMs = 10_000, other?: Promise<void>) {
      answers.closing = true;
      // Not earlier, because clients of feeds would reconnect to this server.
      const endFeeds = (): void => options.feeds?.close();
      closed ??= Promise.allSettled([
        connections.drain(server.server, listeners, graceMs, endFeeds),
        other,
      ]).then(() => server.close());
      return closed;
    },
  };
}

/** Plugins fail when the server is made ready; their errors are collected in the order of the plugins. */
function addPlugins(server: FastifyInstance, plugins: readonly ServerPlugin[]): Error[] {
  const failures: Error[] = [];
  for (const each of plugins) {
    const [plugin, pluginOptions] = typeof each === 'function' ? [each, {}] : each;
    // The caller that passes a plugin with options is responsible for their type.
    server.register(plugin as FastifyPluginCallback<object>, pluginOptions);
    server.after(noteFailure(failures, `Plugin '${plugin.name || 'anonymous'}'`));
  }
  return failures;
}

function noteFailure(failures: Error[], subject: string): (error: Error | null) => void {
  return (error) => {
    if (error === null || error === undefined) return;
    const message = `${subject} failed at start: ${error.message}`;
    failures.push(error instanceof FwError ? error : new PluginError(message, { cause: error }));
  };
}

function createFastify({ answers, limits, connections, certificate, headers, log }: Edge): FastifyInstance {
  const common = {
    loggerInstance: new FastifyLog(log) as FastifyBaseLogger,
    logController: requestLines,
    // Queries are read by each route, strictly.
    routerOptions: { maxParamLength: LONGEST_PARAMETER, querystringParser: () => ({}) },
    bodyLimit: limits.bodyBytes,
    genReqId: requestIdOf,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionTimeout: limits.answerTimeoutMs,
    return503OnClosing: false,
    exposeHeadRoutes: true,
    rewriteUrl: pathOfTarget,
    clientErrorHandler: (error: Error, socket: Socket) =>
      answerClientError(error, socket, { connections, headers }),
    frameworkErrors: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
      // No hook runs for these answers.
      reply.headers({ ...headers.security, ...headers.crossOrigin(request.headers.origin) });
      reply.header('x-request-id', request.id);
      answers.fail(request, reply, translateRefusal(error));
    },
  };
  const http = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersTimeoutMs,
    connectionsCheckingInterval: Math.min(500, limits.headersTimeoutMs),
    // Checked with the other headers, and answered with a problem.
    requireHostHeader: false,
  };
  const https = { ...http, ...certificate?.options, handshakeTimeout: limits.requestTimeoutMs };
  const server =
    certificate === undefined
      ? fastify({ ...common, http })
      : // The types of Fastify keep HTTP and HTTPS apart, but the routes of both are the same.
        (fastify({ ...common, https }) as unknown as FastifyInstance);
  // Fastify would ignore their bodies; routes refuse unexpected ones.
  for (const method of READING) server.addHttpMethod(method, { hasBody: true, overrideExisting: true });
  const listener: Server = server.server;
  connections.watch(listener, limits.connections);
  certificate?.serve(listener, () => connections.outdate());
  // With a limit, Node would silently drop further headers. Requests with too many headers are refused instead.
  listener.maxHeadersCount = 0;
  // A client may end its side once it has sent its requests, and still gets the answers.
  Object.assign(listener, { httpAllowHalfOpen: true });
  listener.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    listener.emit('request', request, response),
  );
  listener.on('connect', (_request, socket) => refuseTunnel(socket as Socket, headers));
  return server;
}

/** Hooks of all routes, before those of plugins, and the answers to requests that no route takes. */
function addHooks(server: FastifyInstance, edge: Edge): void {
  const { answers, connections, headers, hosts, limits, metrics, paths } = edge;
  // Checks the head of each request, and begins it when those before it on its connection are answered.
  server.addHook('onRequest', (request, reply, done) => {
    const { raw } = request;
    reply.headers(headers.security);
    const crossOrigin = headers.crossOrigin(raw.headers.origin);
    if (crossOrigin !== undefined) reply.headers(crossOrigin);
    traceRequest(request, reply, paths);
    const begin = (): void => {
      const problem = checkHead(raw, limits.headerCount, hosts);
      if (problem !== undefined) {
        answers.fail(request, reply, problem);
        return;
      }
      if (!headers.isPreflight(raw)) done();
      else answers.sendEmpty(reply, 204, headers.preflight(raw, paths.allowed(pathOf(raw.url))));
    };
    if (connections.enter(raw, reply.raw, begin) !== 'refuse') return;
    reply.header('connection', 'close');
    const detail = 'Too many requests wait on this connection';
    answers.fail(request, reply, new HttpProblem('HTTP_BUSY', detail, { headers: { 'retry-after': '1' } }));
  });
  server.addHook('onSend', ({ id, raw }, reply, payload, done) => {
    reply.header('x-request-id', id);
    if (connections.mustEnd(raw.socket)) reply.header('connection', 'close');
    if (reply.getHeader('connection') === 'close') connections.endWith(reply.raw);
    done(null, payload);
  });
  if (metrics !== undefined)
    server.addHook('onResponse', (request, reply, done) => {
      const { method, routeOptions } = request;
      const { statusCode: status } = reply.raw;
      const route = paths.nameOf(routeOptions.url);
      metrics.observe({ method, route, status, ms: reply.elapsedTime, traceId: traceOf(request) });
      done();
    });
  server.setNotFoundHandler((request, reply) => answerUnserved(request, reply, edge));
  server.setErrorHandler((error: FastifyError | null | undefined, request, reply) => {
    // Fastify looks for the content type of QUERY before it looks for a route.
    if (request.is404 && error?.code === 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE')
      answerUnserved(request, reply, edge);
    else {
      dropInvalidHeaders(reply);
      answers.fail(request, reply, translateRefusal(error));
    }
  });
}

/** Generated routes read the bytes by themselves, whatever parsers plugins have added. */
function addRoutes(
  server: FastifyInstance,
  options: HttpServerOptions,
  { limits, answers, places }: Edge,
): void {
  const { routes, executor, authenticator, callers, denyByDefault, feeds } = options;
  const services = { executor, authenticator, answers, places, callers, denyByDefault, feeds };
  const compiled = routes.map((route) => {
    const { method, path, bodyBytes: bodyLimit = limits.bodyBytes } = route;
    const handler = compileRoute(route, new ParamsReader(route, limits.nestingDepth), services);
    return { method, url: routerPath(path), bodyLimit, handler, config: { isOwn: true } };
  });
  // Reading a route's options creates an object per request in Fastify.
  const isOneLimit = routes.every(({ bodyBytes }) => bodyBytes === undefined);
  server.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (request, payload, read) => {
      const most = isOneLimit ? limits.bodyBytes : Number(request.routeOptions.bodyLimit);
      readBody(payload, request.headers['content-length'], most, read);
    });
    scope.addHook('onRequest', refusingHook(places, answers));
    for (const route of compiled) scope.route(route);
    done();
  });
}
