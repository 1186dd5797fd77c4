import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
  onRequestHookHandler,
  RouteOptions,
} from 'fastify';
import type { Ticket } from './admission/gate.js';
import type { Gatekeeper } from './admission/gatekeeper.js';
import type { Answers } from './answer.js';
import { readBody } from './body-reader.js';
import { parsePlainJson } from './input/json-text.js';
import { readLooseQuery } from './input/query-text.js';
import { isJsonContent } from './media-types.js';
import { HttpProblem } from './problem.js';
import type { RouteToolbox } from './route-tools.js';

/** Handling of custom routes and plugins before and after their handlers. */
export interface ExtensionContext {
  readonly answers: Answers;
  readonly gatekeeper: Gatekeeper;
  readonly tools: RouteToolbox;
  readonly nestingDepth: number;
}

/** Puts a custom route under admission, and sets its query. */
export function adoptRoute(route: RouteOptions, { gatekeeper, tools }: ExtensionContext): void {
  const begin = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    tools.begin(request, reply);
    let problem: Error | undefined;
    try {
      request.query = { ...readLooseQuery(request.raw.url ?? '') };
    } catch (error) {
      problem = error instanceof Error ? error : new Error(String(error));
    }
    done(problem);
  };
  const enter = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    const admitted = (ticket: Ticket): void => {
      // The duration of a custom route's other work does not measure the load of its shards.
      reply.raw.once('close', () => ticket.leave(false));
      done();
    };
    gatekeeper.enter(request.raw, reply.raw, admitted, () => handOver(reply));
  };
  if (route.config?.admission === false) {
    route.onRequest = [begin, ...listOf(route.onRequest)];
    return;
  }
  route.onRequest = [begin, refusingHook(gatekeeper), ...listOf(route.onRequest)];
  route.preHandler = [enter, ...listOf(route.preHandler)];
}

/** Refuses a request without a slot, before its body is read and with the headers that hooks have set by then. */
export function refusingHook(gatekeeper: Gatekeeper): onRequestHookHandler {
  return ({ raw }, reply, done) => {
    if (!gatekeeper.refuses(raw, reply.raw, () => handOver(reply))) done();
  };
}

/** Reads bodies of custom routes: JSON as an object, or the bytes if the route requires them. */
export function addForeignBodyReader(server: FastifyInstance, nestingDepth: number): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (request, payload, done) => {
    const { bodyLimit, config } = request.routeOptions;
    readBody(payload, request.headers['content-length'], Number(bodyLimit), (problem, body) => {
      if (problem !== null) done(problem);
      // A path without a route is answered with 404, with any body.
      else if (request.is404 || config.rawBody === true) done(null, body);
      else parseBody(request, body, nestingDepth, done);
    });
  });
}

function parseBody(
  { headers }: FastifyRequest,
  body: Buffer | undefined,
  nestingDepth: number,
  done: (error: Error | null, body?: unknown) => void,
): void {
  try {
    done(null, body === undefined || body.length === 0 ? undefined : jsonOf(headers, body, nestingDepth));
  } catch (error) {
    done(error instanceof Error ? error : new Error(String(error)));
  }
}

function jsonOf(headers: FastifyRequest['headers'], body: Buffer, nestingDepth: number): unknown {
  if (!isJsonContent(headers['content-type'], headers['content-encoding'])) {
    throw new HttpProblem(
      'HTTP_UNSUPPORTED_MEDIA_TYPE',
      'The body must be application/json in UTF-8, uncompressed',
    );
  }
  return parsePlainJson(body, nestingDepth);
}

/** Adds security headers to answers that Fastify sends, and ends the connection during a drain. */
export function addSendHook(server: FastifyInstance, answers: Answers): void {
  server.addHook('onSend', (request, reply, payload, done) => {
    reply.header('x-request-id', request.id);
    for (const [name, value] of answers.customHeaders) if (!reply.hasHeader(name)) reply.header(name, value);
    if (answers.mustEnd(reply.raw)) reply.header('connection', 'close');
    done(null, payload);
  });
}

/** Generated routes answer without Fastify, so headers that plugins have set are copied to Node's response. */
export function keepPluginHeaders(scope: FastifyInstance): void {
  scope.addHook('preHandler', (_request, reply, done) => {
    handOver(reply);
    done();
  });
}

/** Copies headers that plugins have set, such as `Access-Control-Allow-Origin`. */
export function handOver(reply: FastifyReply): void {
  if (reply.raw.headersSent) return;
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) reply.raw.setHeader(name, value);
}

function listOf<Hook>(hooks: Hook | Hook[] | undefined): Hook[] {
  return hooks === undefined ? [] : Array.isArray(hooks) ? hooks : [hooks];
}
