import type { FastifyReply, FastifyRequest } from 'fastify';
import { isTraceParent } from '../domain/trace-parent.js';
import { activeSpan, isInSpan, isTracing, type Span, sampledTraceId, startSpan } from '../tracing.js';
import { pathOf } from './request-head.js';
import type { RoutePaths } from './route-paths.js';

const spans = new WeakMap<FastifyRequest, Span>();

/**
 * Starts the span of a request, as a child of the caller's. If an instrumentation has started one, there is no other.
 * The span ends with the answer, or with the connection.
 */
export function traceRequest(request: FastifyRequest, reply: FastifyReply, paths: RoutePaths): void {
  if (!isTracing() || isInSpan()) return;
  const { method, raw, routeOptions } = request;
  const route = paths.nameOf(routeOptions.url);
  const given = raw.headers['traceparent'];
  const span = startSpan(`${method} ${route}`, {
    kind: 'SERVER',
    traceContext: typeof given === 'string' && isTraceParent(given) ? given : undefined,
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'url.path': pathOf(raw.url),
      'url.scheme': request.protocol,
      'fw.request.id': request.id,
    },
  });
  if (span === undefined) return;
  spans.set(request, span);
  reply.raw.once('close', () => {
    const { statusCode } = reply.raw;
    span.setAttribute('http.response.status_code', statusCode);
    if (statusCode >= 500) span.setAttribute('error.type', String(statusCode));
    span.end();
  });
}

/** The span of a request: events of its body arrive outside of it. */
export function spanOf(request: FastifyRequest): Span | undefined {
  return isTracing() ? spans.get(request) : undefined;
}

/** The id of a request's trace, if that is sampled. An instrumentation may have started it. */
export function traceOf(request: FastifyRequest): string | undefined {
  return isTracing() ? sampledTraceId(spans.get(request) ?? activeSpan()) : undefined;
}
