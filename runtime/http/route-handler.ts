import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Authenticator } from '../access/authenticator.js';
import type { EndRequest, RequestLimits } from '../access/request-limits.js';
import { ruleOf } from '../action/access-rule.js';
import type { ActionClass } from '../action/action.js';
import type { ExecutionConfiguration } from '../action/execution-configuration.js';
import { Id } from '../domain/id.js';
import { compileObjectWriter } from '../domain/json-codec.js';
import { type Caller, principalName } from '../domain/principal.js';
import { ForbiddenError, messageOf } from '../errors.js';
import { placesOf } from '../openapi/documented-route.js';
import { within } from '../tracing.js';
import type { Answers } from './answer.js';
import type { Places } from './busy.js';
import { contentTag, entityTag, isCurrent } from './entity-tags.js';
import { executionSettings } from './execution-settings.js';
import { type LiveFeeds, lastVersion } from './feed/live-feeds.js';
import type { ParamsReader, RequestParams } from './input/request-params.js';
import { acceptsEventStream, acceptsJson } from './media-types.js';
import { shardInPath } from './path-shard.js';
import { type CalledRoute, HttpProblem, type ParamPlaces } from './problem.js';
import { spanOf } from './request-span.js';
import type { RouteDescriptor } from './route.js';

/** The part of an executor that the server uses. */
export interface Executes {
  execute(
    principal: Caller,
    actionClass: ActionClass<never, unknown>,
    params: object,
    configuration?: ExecutionConfiguration,
  ): Promise<unknown>;
}

/** Dependencies that the handlers of all routes share. */
export interface RouteServices {
  readonly executor: Executes;
  readonly authenticator: Authenticator;
  /** Limits of each caller. Undefined: none. */
  readonly callers?: RequestLimits | undefined;
  /** Whether routes are refused if their actions have no rule. */
  readonly denyByDefault?: boolean | undefined;
  readonly answers: Answers;
  /** Limits the requests in progress. */
  readonly places: Places;
  /** Streams of events, for routes with a feed. */
  readonly feeds: LiveFeeds | undefined;
}

/** A handler that answers by itself, and never rejects. */
export type RouteHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** Serves one action. Everything that does not depend on the request is compiled here, once. */
export function compileRoute(
  route: RouteDescriptor,
  reader: ParamsReader,
  { executor, authenticator, answers, places: busy, callers, denyByDefault, feeds }: RouteServices,
): RouteHandler {
  const sendResult = compileAnswer(route, answers);
  const called: CalledRoute = { name: `${route.method} ${route.path}`, places: paramPlaces(route) };
  const isDenied = denyByDefault === true && ruleOf(route.action) === undefined;

  const execute = (principal: Caller, request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const { raw, params: path, body } = request;
    const { url = '/', headers } = raw;
    const params = reader.read({ url, headers, path: path as object, body: body as Buffer | undefined });
    const onReplay = (): void => void reply.header('idempotency-replayed', 'true');
    const settings = executionSettings(route, headers, params, onReplay);
    return executor.execute(principal, route.action, params, settings);
  };

  /** Invalid requests count for the route too, and streams until they end. Classes may share a name, no two routes do. */
  const executeWithin = async (
    limits: RequestLimits,
    principal: Caller,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<unknown> => {
    const name = principalName(principal);
    let leave: EndRequest;
    try {
      leave = await limits.enter(name, called.name);
    } finally {
      reply.headers(limits.headers(name, called.name));
    }
    if (isStream(request)) {
      if (reply.raw.destroyed) leave();
      else reply.raw.once('close', leave);
      return execute(principal, request, reply);
    }
    try {
      return await execute(principal, request, reply);
    } finally {
      leave();
    }
  };

  const isStream = ({ headers }: FastifyRequest): boolean =>
    route.feed !== undefined && route.method === 'GET' && acceptsEventStream(headers.accept);

  const openFeed = (request: FastifyRequest, reply: FastifyReply, principal: Caller): void => {
    const { params, headers, id: requestId } = request;
    // The reader has converted the path parameters in place.
    const id = (params as RequestParams)[route.feed ?? ''];
    if (!(id instanceof Id) || feeds === undefined)
      throw new TypeError(`${route.path} has no id ${route.feed}`);
    // The hooks of answers do not run for a stream.
    reply.header('x-request-id', requestId);
    feeds.open(reply, id, {
      caller: principalName(principal),
      after: lastVersion(headers['last-event-id']),
      authenticate: () => authenticator(request.raw),
    });
  };

  const serve = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const streams = isStream(request);
    if (!streams && !acceptsJson(request.headers.accept))
      throw new HttpProblem('HTTP_NOT_ACCEPTABLE', 'Responses are application/json only');
    const caller = authenticator(request.raw);
    // The caller of a known credential needs no turn of the queue of promises.
    const principal = caller instanceof Promise ? await caller : caller;
    requireName(principal);
    if (isDenied) throw new ForbiddenError(`${called.name} has no rule, and access is denied by default`);
    const result = await within(spanOf(request), () =>
      callers === undefined
        ? execute(principal, request, reply)
        : executeWithin(callers, principal, request, reply),
    );
    // A caller who may not read the route's answer gets none of its events.
    if (streams) openFeed(request, reply, principal);
    else if (!reply.raw.destroyed) answer(request, reply, result);
  };

  /** The action has taken effect, so an error of its response must not look like a refusal. */
  const answer: SendResult = (request, reply, result) => {
    try {
      sendResult(request, reply, result);
    } catch (cause) {
      throw new TypeError(`The response of ${called.name} cannot be written: ${messageOf(cause)}`, { cause });
    }
  };

  return async (request, reply) => {
    const shard = shardInPath(request.params);
    const leave = busy.take(shard);
    if (leave === undefined) return answers.refuse(request, reply, { places: busy, shard });
    try {
      await serve(request, reply);
    } catch (error) {
      answers.fail(request, reply, error, called);
    } finally {
      leave();
    }
  };
}

/** A principal without a name is a defect of the authenticator, not of the caller. */
export function requireName(principal: Caller): void {
  const name: unknown = typeof principal === 'function' ? principal() : principal?.name;
  if (typeof name !== 'string' || name === '') {
    throw new TypeError('The authenticator returned a principal without a name');
  }
}

function paramPlaces(route: RouteDescriptor): ParamPlaces {
  const fields = placesOf(route);
  const places = ['body', 'query', 'path'] as const;
  return new Map(places.flatMap((place) => fields[place].map(({ name }) => [name, place] as const)));
}

type SendResult = (request: FastifyRequest, reply: FastifyReply, result: unknown) => void;

function compileAnswer(route: RouteDescriptor, answers: Answers): SendResult {
  const { response: shape, status, etag, location } = route;
  if (shape === undefined) return (_request, reply) => answers.sendEmpty(reply, status);
  const map = shape.map as (result: unknown) => object;
  const write = compileObjectWriter(shape.type.fields);
  const locate = location === undefined ? undefined : compileLocation(location);
  const isRead = route.method === 'GET';

  return (request, reply, result) => {
    const body = map(result) as Readonly<Record<string, unknown>>;
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (isRead) headers['cache-control'] = 'private, no-cache';
    if (locate !== undefined) headers['location'] = locate(body);
    const text = write(body);
    if (etag !== undefined) headers['etag'] = entityTag(body[etag]);
    else if (isRead) headers['etag'] = contentTag(text);
    const known = isRead ? request.headers['if-none-match'] : undefined;
    if (known !== undefined && isCurrent(known, headers['etag'] ?? '')) {
      delete headers['content-type'];
      answers.sendEmpty(reply, 304, headers);
      return;
    }
    answers.send(reply, status, headers, text);
  };
}

/** Compiles `/wallets/{id}` to a function of the response body. */
function compileLocation(template: string): (body: Readonly<Record<string, unknown>>) => string {
  const parts = template.split(/\{([^}]*)\}/);
  return (body) =>
    parts.map((part, at) => (at % 2 === 0 ? part : encodeURIComponent(String(body[part])))).join('');
}
