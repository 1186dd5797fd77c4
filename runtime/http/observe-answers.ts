import type { FastifyInstance } from 'fastify';
import type { Metrics } from '../observability/prometheus.js';
import { bracesPath, routerPath } from './path-pattern.js';
import type { RouteDescriptor } from './route.js';

/** Reports every sent answer under its declared path: an unknown path adds no label. */
export function observeAnswers(
  server: FastifyInstance,
  metrics: Metrics,
  routes: readonly RouteDescriptor[],
): void {
  const declared = new Map(routes.map(({ path }) => [routerPath(path), path]));
  server.addHook('onResponse', ({ method, routeOptions: { url } }, reply, done) => {
    metrics.observe({
      method,
      route: url === undefined ? 'unmatched' : (declared.get(url) ?? bracesPath(url) ?? url),
      status: reply.raw.statusCode,
      seconds: reply.elapsedTime / 1_000,
    });
    done();
  });
}
