import { validateHeaderName, validateHeaderValue } from 'node:http';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
  onRequestHookHandler,
  RouteOptions,
} from 'fastify';
import { within } from '../tracing.js';
import type { Answers } from './answer.js';
import { readBody } from './body-reader.js';
import { API_POLICY, CUSTOM_POLICY } from './browser-headers.js';
import type { Places } from './busy.js';
import { parsePlainJson } from './input/json-text.js';
import { readQuery } from './input/query-text.js';
import { requireJson } from './media-types.js';
import { shardInPath } from './path-shard.js';
import { spanOf } from './request-span.js';
import type { RouteToolbox } from './route-tools.js';

/** Limits the requests in progress of a custom route, and sets its query. */
export function adoptRoute(
  route: RouteOptions,
  {
    answers,
    places,
    tools,
  }: { readonly answers: Answers; readonly places: Places; readonly tools: RouteToolbox },
): void {
  const begin = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    tools.begin(request, reply);
    if (reply.getHeader('content-security-policy') === API_POLICY)
      reply.header('content-security-policy', CUSTOM_POLICY);
    request.query = { ...readQuery(request.raw.url ?? '') };
    done();
  };
  const enter = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    // The place of a client that has left would never be released.
    if (reply.raw.destroyed) return;
    const shard = shardInPath(request.params);
    const leave = places.take(shard);
    if (leave === undefined) answers.refuse(request, reply, { places, shard });
    else {
      reply.raw.once('close', leave);
      within(spanOf(request), () => done());
    }
  };
  if (route.config?.admission === false) {
    route.onRequest = [begin, ...listOf(route.onRequest)];
    return;
  }
  route.onRequest = [begin, refusingHook(places, answers), ...listOf(route.onRequest)];
  route.preHandler = [enter, ...listOf(route.preHandler)];
}

/** Refuses a request without a place before its body is read, with the headers that hooks have set by then. */
export function refusingHook(places: Places, answers: Answers): onRequestHookHandler {
  return (request, reply, done) => {
    const shard = shardInPath(request.params);
    if (places.isFull(shard)) answers.refuse(request, reply, { places, shard });
    else done();
  };
}

/** Removes headers of custom routes and plugins that Node refuses to send, and with them any further answer. */
export function dropInvalidHeaders(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(reply.getHeaders()))
    try {
      validateHeaderName(name);
      validateHeaderValue(name, String(value));
    } catch {
      reply.removeHeader(name);
    }
}

/** Reads bodies of custom routes: JSON as an object, or the bytes if the route requires them. */
export function addForeignBodyReader(server: FastifyInstance, nestingDepth: number): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (request, payload, done) => {
    const { bodyLimit, config } = request.routeOptions;
    readBody(payload, request.headers['content-length'], Number(bodyLimit), (problem, body) => {
      // A path without a route is answered with 404, with any body.
      if (problem !== null || request.is404 || config.rawBody === true) done(problem, body);
      else if (body === undefined || body.length === 0) done(null, undefined);
      else done(...jsonOf(request.headers, body, nestingDepth));
    });
  });
}

/** The JSON of a body, or why it is refused. */
function jsonOf(
  headers: FastifyRequest['headers'],
  body: Buffer,
  nestingDepth: number,
): [error: Error | null, json?: unknown] {
  try {
    requireJson(headers);
    return [null, parsePlainJson(body, nestingDepth)];
  } catch (error) {
    return [error as Error];
  }
}

function listOf<Hook>(hooks: Hook | Hook[] | undefined): Hook[] {
  return hooks === undefined ? [] : Array.isArray(hooks) ? hooks : [hooks];
}
