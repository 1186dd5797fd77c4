import { parse as parseQuery } from 'node:querystring';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
  RouteOptions,
} from 'fastify';
import type { Gatekeeper } from './admission/gatekeeper.js';
import type { Answers } from './answer.js';
import { readBody } from './body-reader.js';
import { parseJsonBytes } from './input/json-text.js';
import { isJsonContent } from './media-types.js';
import { HttpProblem } from './problem.js';
import type { RouteToolbox } from './route-tools.js';

/** What custom routes and plugins meet before and behind their handlers. */
export interface ExtensionContext {
  readonly answers: Answers;
  readonly gatekeeper: Gatekeeper;
  readonly tools: RouteToolbox;
  readonly nestingDepth: number;
}

/** Puts a route that is not generated under admission, and gives it its query. */
export function adoptRoute(route: RouteOptions, { gatekeeper, tools }: ExtensionContext): void {
  const begin = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    tools.begin(request, reply);
    request.query = queryOf(request.raw.url);
    done();
  };
  const enter = (request: FastifyRequest, { raw }: FastifyReply, done: HookHandlerDoneFunction): void => {
    gatekeeper.enter(request.raw, raw, (ticket) => {
      // What a custom route does besides its shards says nothing about how busy they are.
      raw.once('close', () => ticket.leave(false));
      done();
    });
  };
  route.onRequest = [begin, ...listOf(route.onRequest)];
  if (route.config?.admission !== false) route.preHandler = [enter, ...listOf(route.preHandler)];
}

/** Reads bodies of routes that are not generated: JSON as an object, or the bytes if the route asks for them. */
export function addForeignBodyReader(server: FastifyInstance, nestingDepth: number): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (request, payload, done) => {
    const { bodyLimit, config } = request.routeOptions;
    readBody(payload, request.headers['content-length'], Number(bodyLimit), (problem, body) => {
      if (problem !== null) done(problem);
      // What nobody serves is answered as such, whatever its body is.
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
  // As strict as generated routes: duplicate keys, `__proto__`, invalid UTF-8 and too deep nesting are refused.
  parseJsonBytes(body, nestingDepth);
  return JSON.parse(body.toString('utf8'));
}

/** Answers that Fastify sends get what generated ones have: no sniffing, and the end of the connection in a drain. */
export function addSendHook(server: FastifyInstance, answers: Answers): void {
  server.addHook('onSend', (_request, reply, payload, done) => {
    reply.header('x-content-type-options', 'nosniff');
    if (answers.mustEnd(reply.raw)) reply.header('connection', 'close');
    done(null, payload);
  });
}

/** Generated routes answer without Fastify: headers that plugins have set are handed over to Node's response. */
export function keepPluginHeaders(scope: FastifyInstance): void {
  scope.addHook('preHandler', (_request, reply, done) => {
    handOver(reply);
    done();
  });
}

/** Headers that plugins have set, `Access-Control-Allow-Origin` for one. */
export function handOver(reply: FastifyReply): void {
  if (reply.raw.headersSent) return;
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) reply.raw.setHeader(name, value);
}

function queryOf(url = ''): object {
  const start = url.indexOf('?');
  return start === -1 ? {} : { ...parseQuery(url.slice(start + 1)) };
}

function listOf<Hook>(hooks: Hook | Hook[] | undefined): Hook[] {
  return hooks === undefined ? [] : Array.isArray(hooks) ? hooks : [hooks];
}
