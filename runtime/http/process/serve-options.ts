import type { FastifyInstance } from 'fastify';
import type { Authenticator } from '../../access/authenticator.js';
import type { AuthenticatorFactory } from '../../access/configured.js';
import type { CallerLimits } from '../../access/request-limits.js';
import type { Tenancy } from '../../action/tenancy.js';
import type { Application } from '../../application.js';
import type { Clock } from '../../domain/clock.js';
import type { Logger } from '../../observability/logger.js';
import type { SinkDefinition } from '../../relay/sink-definition.js';
import type { HttpLimits } from '../limits.js';
import type { ProblemKind } from '../problem-kinds.js';
import type { RouteTools } from '../route-tools.js';
import type { CustomRoutes, ServerPlugin } from '../server-plugin.js';

/** Settings of `serve`. The command line takes precedence over the environment, and the environment over these. */
export interface ServeSettings {
  /**
   * Authenticates callers. `fixedPrincipal(name)`: all callers are the same principal. A function receives the
   * databases and returns an authenticator that needs them. `fw.access` of the configuration takes precedence if it
   * configures authentication. Default: none, and the server starts only with such a configuration.
   */
  readonly authenticator?: Authenticator | AuthenticatorFactory;
  /** Default `fw.config.yaml`. Overridden by `FW_CONFIG` and `--config`. */
  readonly config?: string;
  /** Default `127.0.0.1`. Overridden by `HOST` and `--host`. */
  readonly host?: string;
  /** 0 takes any free port. Default 8080. Overridden by `PORT` and `--port`. */
  readonly port?: number;
  /** Default: the command line of this process, without program and script. */
  readonly argv?: readonly string[];
  /** Default: the environment of this process. Also the source of `${NAME}` in the configuration. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Heading of `/docs`. Default: the title in the API document. */
  readonly title?: string;
  readonly limits?: Partial<HttpLimits>;
  /** The groups of shards that each principal may reach. Overridden by `fw.access.tenancy`. Default: all. */
  readonly tenancy?: Tenancy;
  /** Limits of each caller in this process. Overridden by `fw.access`. Default: none. */
  readonly callerLimits?: CallerLimits;
  /** Names that `Host` may have, without port. Overridden by `fw.access.hosts`. Default: any. */
  readonly hosts?: readonly string[];
  /**
   * Fastify plugins, registered in order before any route: `[helmet, withOptions(cors, { origin: true })]`. Their hooks
   * apply to generated routes too. Default none.
   */
  readonly plugins?: readonly ServerPlugin[];
  /**
   * Adds custom routes with Fastify's own API. Limits, drain, metrics, log and problem answers apply to them too.
   * Default none.
   */
  readonly routes?: CustomRoutes<ServerTools>;
  /**
   * Status and title of the application's errors, by the `code` of the `ApplicationError`: `{ QUOTA_EXCEEDED: { status:
   * 402, title: 'Quota exceeded' } }`. Default: each is answered with 409.
   */
  readonly problems?: Readonly<Record<string, ProblemKind>>;
  /**
   * Whether this process delivers events to handlers, drives sagas and runs scheduled actions. Default true. With
   * false, another process must do so.
   */
  readonly deliver?: boolean;
  /**
   * Whether this process sends events to sinks, if it delivers: to those of `fw.relay` in the configuration, or to
   * these. Default false: `fw-gen relay` does.
   */
  readonly relay?: boolean | readonly SinkDefinition[];
  /**
   * Path of `events.lock`: serves the schema of every version of every event at `/schemas/<event>/<version>.json`, the
   * address in CloudEvents' `dataschema`. Default: no schemas are served.
   */
  readonly schemas?: string;
  /** Whether `/metrics` is served, in the text format of Prometheus. Default true. */
  readonly metrics?: boolean;
  /** A pino logger, or one like it. Default: pino, one line of JSON per entry, to stderr. */
  readonly log?: Logger;
}

/** As `ServeSettings`, with the collaborators of the application's actions; optional if there are none. */
export type ServeOptions<Collaborators = Record<never, never>> = ServeSettings &
  (Record<never, never> extends Collaborators
    ? { readonly collaborators?: Collaborators }
    : { readonly collaborators: Collaborators });

/** The objects that custom routes receive: the running application, and functions of generated routes. */
export interface ServerTools extends RouteTools {
  readonly application: Application;
}

/** A running server. */
export interface RunningServer {
  /** The application that it serves: executor, repositories' databases, events, sagas. */
  readonly application: Application;
  /** The Fastify instance, for use after the start, such as `inject`. Routes can no longer be added. */
  readonly fastify: FastifyInstance;
  /** `http://127.0.0.1:8080` */
  readonly url: string;
  readonly host: string;
  /** The actual port, even if 0 was requested. */
  readonly port: number;
  /** Stops accepting, finishes requests in progress and closes the databases. */
  close(): Promise<void>;
}
