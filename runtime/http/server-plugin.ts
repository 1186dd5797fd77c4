import type {
  FastifyInstance,
  FastifyPluginAsync,
  FastifyPluginCallback,
  FastifyPluginOptions,
} from 'fastify';
import type { RouteTools } from './route-tools.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the handler gets the body's bytes as a `Buffer`, for any content type: for webhook signatures. */
    rawBody?: boolean;
    /** False: the route needs no admission, for example because it streams for minutes. Default true. */
    admission?: boolean;
    /** A route that the server itself adds. */
    isOwn?: boolean;
  }
}

/** A Fastify plugin with options of any type. */
type AnyPlugin = (
  instance: FastifyInstance,
  options: never,
  done: (error?: Error) => void,
) => void | Promise<unknown>;

/** A Fastify plugin, alone or with its options. `withOptions` checks the type of the options. */
export type ServerPlugin = AnyPlugin | readonly [AnyPlugin, FastifyPluginOptions];

/** A plugin with its options: `withOptions(cors, { origin: true })`. */
export function withOptions<Options extends FastifyPluginOptions>(
  plugin: FastifyPluginCallback<Options> | FastifyPluginAsync<Options>,
  options: NoInfer<Options>,
): ServerPlugin {
  return [plugin, options];
}

/** Adds the application's own routes. Fastify's options `bodyLimit` (bytes) and `handlerTimeout` (ms) apply. */
export type CustomRoutes<Tools = RouteTools> = (
  fastify: FastifyInstance,
  tools: Tools,
) => void | Promise<void>;
