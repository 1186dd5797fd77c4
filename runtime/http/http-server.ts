import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyPluginCallback,
  type FastifyReply,
  type FastifyRequest,
  type onRequestHookHandler,
} from 'fastify';
import type { Authenticator } from '../access/authenticator.js';
import type { RequestLimits } from '../access/request-limits.js';
import type { CorsConfig } from '../config/types.js';
import { FwError } from '../errors.js';
import { defaultLogger, type Logger } from '../observability/logger.js';
import type { Metrics } from '../observability/prometheus.js';
import { SafeLogger } from '../observability/safe-logger.js';
import { Answers, pathOf } from './answer.js';
import { readBody } from './body-reader.js';
import { Places } from './busy.js';
import { answerClientError, type RawHeaders, refuseTunnel } from './client-error.js';
import { CrossOrigin } from './cross-origin.js';
import type { LiveFeeds } from './feed/live-feeds.js';
import { type HealthCheck, Readiness } from './health.js';
import { checkName, namesOf } from './host-names.js';
import { ParamsReader } from './input/request-params.js';
import { DEFAULT_HTTP_LIMITS, type HttpLimits } from './limits.js';
import { observeAnswers } from './observe-answers.js';
import { OpenConnections } from './open-connections.js';
import { addPages } from './pages.js';
import { PathMethods, routerPath } from './path-pattern.js';
import { HttpProblem } from './problem.js';
import { type ApplicationProblems, checkApplicationProblems } from './problem-kinds.js';
import { checkHead, pathOfTarget } from './request-head.js';
import { requestIdOf } from './request-id.js';
import type { RouteDescriptor } from './route.js';
import { compileRoute, type Executes } from './route-handler.js';
import { RouteRegister } from './route-register.js';
import { RouteToolbox } from './route-tools.js';
import { SecurityHeaders } from './security-headers.js';
import type { ServerCertificate } from './server-certificate.js';
import { addForeignBodyReader, addSendHook, adoptRoute, refusingHook } from './server-extension.js';
import type { CustomRoutes, ServerPlugin } from './server-plugin.js';
import { answerUnserved, translateRefusal } from './unserved.js';

/** Options of an HTTP server. */
export interface HttpServerOptions {
  readonly routes: readonly RouteDescriptor[];
  readonly executor: Executes;
  /** The OpenAPI document, served at `/openapi.json` and rendered at `/docs`. Default: neither is served. */
  readonly openApi?: object;
  readonly authenticator: Authenticator;
  readonly health: HealthCheck;
  /** Limits of each caller. Default: none. */
  readonly callers?: RequestLimits | undefined;
  /** Whether routes are refused if their actions have no rule. Default false. */
  readonly denyByDefault?: boolean;
  /** Names that `Host` may have, without port. Default: any. */
  readonly hosts?: readonly string[];
  /** Heading of `/docs`. Default: the document's `info.title`. */
  readonly title?: string;
  readonly limits?: Partial<HttpLimits>;
  /** Undefined: the server speaks HTTP instead of HTTPS. */
  readonly certificate?: ServerCertificate | undefined;
  /** How long browsers must use only HTTPS, in seconds. Default 0: the header is absent. */
  readonly strictTransportSeconds?: number;
  /** Pages of other origins that may call the server. Default: none. */
  readonly cors?: CorsConfig | undefined;
  /** Status and title of the application's errors, by code. Default: each is answered with 409. */
  readonly problems?: ApplicationProblems;
  /** Serves `/metrics` and records every answer. Default: neither. */
  readonly metrics?: Metrics;
  /** Fastify plugins, in order. Their hooks apply to generated routes too. Default none. */
  readonly plugins?: readonly ServerPlugin[];
  /** Adds routes beside the generated ones. Default none. */
  readonly customRoutes?: CustomRoutes;
  /** Streams of events, for routes with a feed. They end when the server closes. Default: no route has one. */
  readonly feeds?: LiveFeeds;
  /** A pino logger, or one like it. Default: pino, one line of JSON per entry, to stderr. */
  readonly log?: Logger;
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
   * after a second, all others after `graceMs` (default 10,000). Later calls wait for the first.
   */
  close(graceMs?: number): Promise<void>;
}

const READING = ['GET', 'HEAD'] as const;
/** Clients that the kernel connects before the process accepts them; the kernel has a limit of its own. */
const BACKLOG = 4_096;
/** Maximum length of a path parameter that is validated. */
const LONGEST_PARAMETER = 2_048;

/** A plugin, or the function that adds custom routes, failed while the server started. */
export class PluginError extends Error {}

/** Creates a server, which does not listen yet. @throws ValidationError for a route that cannot be served */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const limits: HttpLimits = { ...DEFAULT_HTTP_LIMITS, ...options.limits };
  const own = defaultLogger();
  const log = options.log === undefined ? own : SafeLogger.of(options.log, own);
  if (options.problems !== undefined) checkApplicationProblems(options.problems);
  const connections = new OpenConnections();
  const answers = new Answers({ log, problems: options.problems, metrics: options.metrics });
  const paths = new PathMethods();
  const places = new Places(limits, options.feeds);
  options.metrics?.watchBusy(places);
  const tools = new RouteToolbox({ ...options, log });
  const context = { answers, places, tools, nestingDepth: limits.nestingDepth };
  const register = new RouteRegister(paths, (route) => adoptRoute(route, context));
  const edge: Edge = {
    limits,
    answers,
    paths,
    connections,
    places,
    register,
    security: new SecurityHeaders(options.strictTransportSeconds),
    hosts: namesOf(options.hosts),
    certificate: options.certificate,
    cors: options.cors && new CrossOrigin(options.cors),
  };
  const server = createFastify(edge);
  server.addHook('onRequest', headHook(edge));
  server.addHook('onRoute', register.onRoute);
  if (options.metrics !== undefined) observeAnswers(server, options.metrics, options.routes);
  addForeignBodyReader(server, limits.nestingDepth);
  addSendHook(server, connections);
  addFallbacks(server, edge);
  const failures = addPlugins(server, options.plugins ?? []);
  addRoutes(server, options, edge);
  const { customRoutes } = options;
  if (customRoutes !== undefined) {
    server.register(async (scope) => customRoutes(scope, tools));
    server.after(noteFailure(failures, 'The function `routes`'));
  }
  addOwnPages(server, options, edge);
  let closed: Promise<void> | undefined;
  return {
    fastify: server,
    listen: async ({ host, port }) => {
      const { notice } = options.authenticator;
      if (notice !== undefined) log.warn({}, notice);
      await server.ready();
      for (const failure of failures) throw failure;
      await server.listen({ host, port, backlog: BACKLOG });
      return addressOf(server, host, schemeOf(options));
    },
    close: (graceMs = 10_000) => {
      answers.closing = true;
      // Not earlier, because clients of feeds would reconnect to this server.
      const endFeeds = (): void => options.feeds?.close();
      closed ??= connections.drain(server.server, graceMs, endFeeds).then(() => server.close());
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
    server.after(noteFailure(failures, `Plugin '${nameOf(plugin)}'`));
  }
  return failures;
}

function noteFailure(failures: Error[], subject: string): (error: Error | null) => void {
  return (error) => {
    if (error === null || error === undefined) return;
    const isOurs = error instanceof FwError;
    failures.push(
      isOurs ? error : new PluginError(`${subject} failed at start: ${error.message}`, { cause: error }),
    );
  };
}

function nameOf(plugin: object & { readonly name: string }): string {
  const shown: unknown = Reflect.get(plugin, Symbol.for('fastify.display-name'));
  return typeof shown === 'string' ? shown : plugin.name || 'anonymous';
}

/** Parts that all requests pass. */
interface Edge {
  readonly limits: HttpLimits;
  readonly answers: Answers;
  readonly paths: PathMethods;
  readonly connections: OpenConnections;
  readonly places: Places;
  readonly security: SecurityHeaders;
  readonly register: RouteRegister;
  readonly hosts: ReadonlySet<string> | undefined;
  readonly certificate: ServerCertificate | undefined;
  readonly cors: CrossOrigin | undefined;
}

function createFastify(edge: Edge): FastifyInstance {
  const { answers, limits, connections, certificate } = edge;
  const headers = { security: edge.security, cors: edge.cors };
  const common = {
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
      reply.headers({ ...edge.security.api, ...edge.cors?.headersFor(request.headers.origin) });
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
  const handshakeTimeout = limits.requestTimeoutMs;
  const server =
    certificate === undefined
      ? fastify({ ...common, http })
      : // The types of Fastify keep HTTP and HTTPS apart, but the routes of both are the same.
        (fastify({
          ...common,
          https: { ...http, ...certificate.options, handshakeTimeout },
        }) as unknown as FastifyInstance);
  watchServer(server.server, edge, headers);
  // Fastify would ignore their bodies; routes refuse unexpected ones.
  for (const method of READING) server.addHttpMethod(method, { hasBody: true, overrideExisting: true });
  return server;
}

/** Sets what Fastify has no options for. */
function watchServer(server: Server, { limits, connections, certificate }: Edge, headers: RawHeaders): void {
  connections.watch(server);
  certificate?.serve(server);
  server.maxConnections = limits.connections;
  // With a limit, Node would silently drop further headers. Requests with too many headers are refused instead.
  server.maxHeadersCount = 0;
  // A client may end its side once it has sent its requests, and still gets the answers.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    server.emit('request', request, response),
  );
  server.on('connect', (_request, socket) => refuseTunnel(socket as Socket, headers));
}

/** Checks the head of each request, and begins it when those before it on its connection are answered. */
function headHook(edge: Edge): onRequestHookHandler {
  const { answers, connections, cors, hosts, limits, security } = edge;
  return (request, reply, done) => {
    const { raw } = request;
    reply.headers(security.api);
    if (cors !== undefined) reply.headers(cors.headersFor(request.headers.origin));
    const begin = (): void => {
      const problem = checkHead(raw, limits.headerCount) ?? checkName(raw, hosts);
      if (problem !== undefined) answers.fail(request, reply, problem);
      else if (!isPreflight(edge, request, reply)) done();
    };
    if (connections.enter(raw, reply.raw, begin) !== 'refuse') return;
    reply.header('connection', 'close');
    const detail = 'Too many requests wait on this connection';
    answers.fail(request, reply, new HttpProblem('HTTP_BUSY', detail, { headers: { 'retry-after': '1' } }));
  };
}

/** Answers a browser's preflight request. */
function isPreflight({ cors, paths, answers }: Edge, request: FastifyRequest, reply: FastifyReply): boolean {
  const headers = cors?.preflight(request.raw, paths.allowed(pathOf(request.raw.url)));
  if (headers !== undefined) answers.sendEmpty(reply, 204, headers);
  return headers !== undefined;
}

/** Generated routes read the bytes by themselves, whatever parsers plugins have added. */
function addBodyReader(scope: FastifyInstance, routes: readonly RouteDescriptor[], limit: number): void {
  // Reading a route's options creates an object per request in Fastify.
  const isOneLimit = routes.every(({ bodyBytes }) => bodyBytes === undefined);
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (request, payload, done) => {
    const most = isOneLimit ? limit : Number(request.routeOptions.bodyLimit);
    readBody(payload, request.headers['content-length'], most, done);
  });
}

function addRoutes(
  server: FastifyInstance,
  { routes, executor, authenticator, callers, denyByDefault, feeds }: HttpServerOptions,
  { limits, answers, places, register }: Edge,
): void {
  const services = { executor, authenticator, answers, places, callers, denyByDefault, feeds };
  const compiled = routes.map((route) => {
    const reader = new ParamsReader(route, limits.nestingDepth);
    const { method, operation, bodyBytes: bodyLimit = limits.bodyBytes } = route;
    const handler = compileRoute(route, reader, services);
    return { operation, options: { method, url: routerPath(route.path), bodyLimit, handler } };
  });
  server.register((scope, _options, done) => {
    addBodyReader(scope, routes, limits.bodyBytes);
    scope.addHook('onRequest', refusingHook(places, answers));
    for (const { operation, options } of compiled) register.own(operation, () => scope.route(options));
    done();
  });
}

function addOwnPages(server: FastifyInstance, options: HttpServerOptions, edge: Edge): void {
  const { answers, paths, register } = edge;
  const { title, metrics, openApi } = options;
  const readiness = new Readiness(options.health);
  server.register((scope, _options, done) => {
    register.own('a page of the server', () =>
      addPages({
        server: scope,
        answers,
        readiness,
        openApi,
        title,
        metrics,
        paths,
        scheme: schemeOf(options),
      }),
    );
    done();
  });
}

function addFallbacks(server: FastifyInstance, edge: Edge): void {
  server.setNotFoundHandler((request, reply) => {
    answerUnserved(request, reply, edge);
  });
  server.setErrorHandler((error: FastifyError, request, reply) => {
    // Fastify looks for the content type of QUERY before it looks for a route.
    if (request.is404 && error.code === 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE')
      answerUnserved(request, reply, edge);
    else edge.answers.fail(request, reply, translateRefusal(error));
  });
}

function schemeOf({ certificate }: HttpServerOptions): 'http' | 'https' {
  return certificate === undefined ? 'http' : 'https';
}

function addressOf(server: FastifyInstance, host: string, scheme: 'http' | 'https'): ListenAddress {
  // The server listens on TCP, so that its address is no string.
  const { port } = server.server.address() as AddressInfo;
  return { host, port, url: `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}` };
}
