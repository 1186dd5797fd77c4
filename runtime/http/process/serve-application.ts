import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type Authenticator, schemesOf } from '../../access/authenticator.js';
import { authenticatorOf } from '../../access/configured.js';
import { type CallerLimits, RequestLimits } from '../../access/request-limits.js';
import { sqlTokenStore } from '../../access/shared-buckets.js';
import { kindOfRule } from '../../action/access-rule.js';
import { type Application, openApplication } from '../../application.js';
import type { ApplicationDefinition } from '../../application-definition.js';
import { ConfigurationError, formatProblem } from '../../config/configuration-error.js';
import { loadConfig } from '../../config/load-config.js';
import type { AccessConfig, FwConfig, ShardingTopology } from '../../config/types.js';
import { defined } from '../../domain/defined.js';
import { errorFacts } from '../../domain/logger.js';
import { principalOf } from '../../domain/principal.js';
import { FwError, UnsafeServerError } from '../../errors.js';
import { lagOfShards } from '../../observability/lag-of-shards.js';
import { defaultLogger, flushLogger, type Logger } from '../../observability/logger.js';
import type { Metrics } from '../../observability/prometheus.js';
import { safeLogger } from '../../observability/safe-logger.js';
import { openApiDocument } from '../../openapi/document.js';
import { documentedAccess, OPEN_ACCESS } from '../../openapi/documented-access.js';
import { readFeeds } from '../../persistence/read/feed-reader.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { ProcessRegister } from '../../sharding/process-register.js';
import { LiveFeeds } from '../feed/live-feeds.js';
import type { HealthCheck } from '../health.js';
import {
  createHttpServer,
  type HttpServer,
  type HttpServerOptions,
  type ListenAddress,
  PluginError,
} from '../http-server.js';
import type { RouteDescriptor } from '../route.js';
import { ServerCertificate, TlsFileError } from '../server-certificate.js';
import type { CustomRoutes } from '../server-plugin.js';
import { followCertificate } from './certificate-reload.js';
import { readCommandLine, type ServeCommand, USAGE, UsageError } from './command-line.js';
import { followConfig } from './config-reload.js';
import { isOperator, operatorRoutes } from './operator-routes.js';
import { type ProcessPort, systemProcess } from './process-port.js';
import { schemaRoutes } from './schema-routes.js';
import type { RunningServer, ServeSettings } from './serve-options.js';
import { shardHealth } from './shard-health.js';
import { endWithProcess } from './shutdown.js';

/** As `ServeOptions`, always with collaborators. */
export type ServeApplicationOptions<Collaborators> = ServeSettings & {
  readonly collaborators: Collaborators;
};

/**
 * Time for requests in progress when the server closes, in milliseconds. The databases need some of the remaining time.
 */
const DRAIN_MS = 8_000;

/** Exit codes of a start that fails. */
const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;

/** See `serve`. */
export async function serveApplication<Collaborators>(
  application: ApplicationDefinition<Collaborators>,
  options: ServeApplicationOptions<Collaborators>,
  port: ProcessPort = systemProcess,
): Promise<RunningServer> {
  const own = defaultLogger((line) => port.stderr(line));
  const log = safeLogger(options.log, own);
  try {
    const command = readCommandLine(options);
    if (command !== 'help') return await start(application, options, command, { port, log });
  } catch (error) {
    const { text, code } = describeFailure(error);
    port.stderr(`${text}\n`);
    await flushLogger(log);
    return port.exit(code);
  }
  port.stdout(USAGE);
  return port.exit(0);
}

/** A server before it listens, and its process. */
interface Opened {
  readonly opened: Application;
  readonly config: FwConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly port: ProcessPort;
  readonly log: Logger;
  readonly certificate: ServerCertificate | undefined;
}

/** Closes the databases and the listener if it fails. */
async function start<Collaborators>(
  application: ApplicationDefinition<Collaborators>,
  options: ServeApplicationOptions<Collaborators>,
  command: ServeCommand,
  { port, log }: { readonly port: ProcessPort; readonly log: Logger },
): Promise<RunningServer> {
  const { env = process.env, collaborators, clock, deliver, relay, tenancy } = options;
  const config = loadConfig(command.config, { env });
  const { tls } = config.http;
  const certificate = tls && new ServerCertificate(tls);
  const opened = await openApplication(application, {
    ...config,
    embedded: 'serve',
    collaborators,
    tenancy,
    ...defined({ clock, deliver, sinks: relay }),
    log,
    inform: (message) => log.info({}, message),
    warn: (message) => log.warn({}, message),
  });
  const context = { opened, config, env, port, log, certificate };
  let server: HttpServer | undefined;
  try {
    const metrics = options.metrics === false ? undefined : await openMetrics(opened, deliver !== false);
    server = createHttpServer(serverOptions(application, options, context, metrics));
    return run(context, server, await server.listen(command));
  } catch (error) {
    // The first failure is the one to report.
    await server?.close(0).catch(() => {});
    await opened.close();
    throw listenFailure(error, command);
  }
}

function serverOptions<Collaborators>(
  application: ApplicationDefinition<Collaborators>,
  options: ServeApplicationOptions<Collaborators>,
  { opened, config, log, certificate }: Opened,
  metrics: Metrics | undefined,
): HttpServerOptions {
  const { title, limits, problems, plugins, routes, schemas, callerLimits } = options;
  const { access } = config;
  const { tls, cors, contact, license } = config.http;
  const { databases } = opened;
  const { operators } = access;
  const added = [
    ...(schemas === undefined ? [] : [schemaRoutes(schemas)]),
    ...(operators === undefined ? [] : [operatorRoutes(operators)]),
    ...(routes === undefined ? [] : [routes]),
  ];
  const customRoutes: CustomRoutes = async (fastify, tools) => {
    for (const add of added) await add(fastify, Object.assign(tools, { application: opened }));
  };
  const authenticator = authenticatorOf(access, options.authenticator, databases);
  const callers = callerLimitsOf(access, callerLimits);
  const hosts = access.hosts.length > 0 ? access.hosts : (options.hosts ?? []);
  return {
    ...{ routes: application.routes, feeds: feedsOf(application.routes, databases) },
    ...{ authenticator, certificate, cors, hosts, limits, log, metrics, plugins, problems, title },
    strictTransportSeconds: tls?.strictTransportSeconds,
    openApi: openApiDocument(
      application.routes.map((route) => ({ ...route, rule: kindOfRule(route.action) })),
      { ...application.api, contact, license },
      documentedAccess(access, {
        ...OPEN_ACCESS,
        schemes: schemesOf(authenticator),
        limitsReach: options.tenancy !== undefined,
        limitsCallers: callerLimits !== undefined,
        checksHosts: hosts.length > 0,
      }),
    ),
    executor: opened.executor,
    actions: opened.registry,
    health: Object.assign(shardHealth(databases, log), operatorCheck(access, authenticator)),
    callers: callers && new RequestLimits(callers, sqlTokenStore(databases)),
    denyByDefault: access.default === 'deny',
    customRoutes: added.length === 0 ? undefined : customRoutes,
  };
}

/** The streams of events, if a route has one. */
function feedsOf(routes: readonly RouteDescriptor[], databases: DatabaseRegistry): LiveFeeds | undefined {
  if (routes.every(({ feed }) => feed === undefined)) return undefined;
  return new LiveFeeds({
    read: (shard, models, page) => readFeeds(databases.database(shard), models, page),
    defaultShard: () => databases.defaultShard,
  });
}

/** Operators have a claim that the configuration names. */
function operatorCheck(
  { operators }: AccessConfig,
  authenticator: Authenticator,
): Pick<HealthCheck, 'isOperator'> {
  if (operators === undefined) return {};
  return {
    isOperator: async (request) => isOperator(principalOf(await authenticator(request)), operators),
  };
}

/** The configuration's limits, if it has any. */
function callerLimitsOf(access: AccessConfig, inCode: CallerLimits | undefined): CallerLimits | undefined {
  const { requestsPerSecond, sharedLimits: shared, concurrentRequests } = access;
  if (requestsPerSecond === undefined && concurrentRequests === undefined) return inCode;
  return { requestsPerSecond, shared, concurrentRequests };
}

/** Connects a listening server to its process: signals, the configuration file, the register of processes. */
function run(
  { opened, config, env, port, log, certificate }: Opened,
  server: HttpServer,
  address: ListenAddress,
): RunningServer {
  const register = new ProcessRegister(opened.databases, {
    id: randomUUID(),
    name: `${hostname()}:${process.pid}`,
  });
  const close = async (): Promise<void> => {
    const delivered = opened.events.stop();
    try {
      await server.close(DRAIN_MS, delivered);
      await delivered;
    } finally {
      // A plugin's `onClose` may fail. Until here, actions run with the registered topology.
      await register.stop();
      await opened.close();
    }
  };
  register.runs(config.sharding);
  opened.databases.onService(() => register.changed());
  const reloaded = (topology: ShardingTopology): void => register.runs(topology);
  const followed = [
    followConfig({ config, env, application: opened, reloaded, log, port }),
    certificate && followCertificate(certificate, log, port),
    endWithProcess(port, log, close),
  ];
  port.stdout(`listening on ${address.url}\n`);
  return {
    ...address,
    application: opened,
    fastify: server.fastify,
    close: async () => {
      for (const stop of followed) stop?.();
      await close();
    },
  };
}

/** The lag of delivery needs queries, so only a delivering process reports it. */
async function openMetrics(application: Application, delivers: boolean): Promise<Metrics> {
  const { createMetrics } = await import('../../observability/prometheus.js');
  const { executor, statistics, events, databases } = application;
  const { journalStatistics: journal, sinkStatistics: sinks } = application;
  const lag = () => lagOfShards(databases, events);
  return createMetrics({
    statistics,
    actions: () => executor.statistics(),
    remembered: () => executor.remembered,
    retention: () => application.retention.status,
    ...(delivers ? { lag, journal, sinks, handledAges: () => events.process.ages } : {}),
  });
}

/** The address cannot be listened on. */
class ListenError extends Error {}

const LISTEN_FAILURES: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: (host, port) => `Port ${port} of ${host} is in use; choose another one with --port or PORT`,
  EACCES: (host, port) => `Port ${port} of ${host} is not allowed for this user; choose one above 1023`,
  EADDRNOTAVAIL: notLocal,
  ENOTFOUND: notLocal,
  EAI_AGAIN: notLocal,
};

function notLocal(host: string): string {
  return `${host} is not an address of this machine; choose another one with --host or HOST`;
}

function listenFailure(error: unknown, { host, port }: ServeCommand): unknown {
  const text = error instanceof Error && 'code' in error ? LISTEN_FAILURES[String(error.code)] : undefined;
  return text === undefined ? error : new ListenError(text(host, port));
}

function describeFailure(error: unknown): { readonly text: string; readonly code: number } {
  if (error instanceof UsageError)
    return { text: `${error.message}\n\n${USAGE}`.trimEnd(), code: EXIT_USAGE };
  if (error instanceof ConfigurationError) {
    const more = error.omitted === 0 ? [] : [`... and ${error.omitted} more`];
    return { text: [...error.problems.map(formatProblem), ...more].join('\n'), code: EXIT_USAGE };
  }
  if (error instanceof UnsafeServerError) return { text: error.message, code: EXIT_USAGE };
  // The stack shows a plugin's author where it failed.
  if (error instanceof PluginError)
    return { text: `${error.message}\n${(error.cause as Error).stack ?? ''}`.trimEnd(), code: EXIT_FAILURE };
  if (error instanceof FwError || error instanceof ListenError || error instanceof TlsFileError)
    return { text: error.message, code: EXIT_FAILURE };
  return { text: JSON.stringify({ message: 'startup failed', ...errorFacts(error) }), code: EXIT_FAILURE };
}
