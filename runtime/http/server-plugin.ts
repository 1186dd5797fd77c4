import type {
  FastifyInstance,
  FastifyPluginAsync,
  FastifyPluginCallback,
  FastifyPluginOptions,
} from 'fastify';
import type { RouteTools } from './route-tools.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler gets the body's bytes as a `Buffer`, whatever its content type: for signatures of webhooks. */
    rawBody?: boolean;
    /** False: the route needs no place under load, such as one that streams for minutes. Default true. */
    admission?: boolean;
  }
}

/** A Fastify plugin with options of any type. */
export type AnyPlugin = (
  instance: FastifyInstance,
  options: never,
  done: (error?: Error) => void,
) => void | Promise<unknown>;

/** A Fastify plugin, alone or with its options. `withOptions` checks that they fit. */
export type ServerPlugin = AnyPlugin | readonly [AnyPlugin, FastifyPluginOptions];

/** A plugin with its options: `withOptions(cors, { origin: true })`. */
export function withOptions<Options extends FastifyPluginOptions>(
  plugin: FastifyPluginCallback<Options> | FastifyPluginAsync<Options>,
  options: NoInfer<Options>,
): ServerPlugin {
  return [plugin, options];
}

/** Adds routes of the application's own. Fastify's options `bodyLimit` (bytes) and `handlerTimeout` (ms) hold. */
export type CustomRoutes<Tools = RouteTools> = (
  fastify: FastifyInstance,
  tools: Tools,
) => void | Promise<void>;
