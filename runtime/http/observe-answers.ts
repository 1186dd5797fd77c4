import type { FastifyInstance } from 'fastify';
import { routerPath } from './path-pattern.js';
import type { RouteDescriptor } from './route.js';

/** One answer, as metrics tell of it. */
export interface HttpAnswer {
  readonly method: string;
  /** Path as it was declared, such as `/wallets/{id}`; `unmatched` for what no route serves. */
  readonly route: string;
  readonly status: number;
  /** From the head of the request to the end of the answer. */
  readonly seconds: number;
}

/** What `/metrics` shows. */
export interface HttpMetrics {
  readonly contentType: string;
  /** Told of every answer. Must return at once. */
  observe(answer: HttpAnswer): void;
  render(): Promise<string>;
}

/** Tells of all answers that were sent, by declared paths: what is asked for adds no label. */
export function observeAnswers(
  server: FastifyInstance,
  metrics: HttpMetrics,
  routes: readonly RouteDescriptor[],
): void {
  const declared = new Map(routes.map(({ path }) => [routerPath(path), path]));
  server.addHook('onResponse', ({ method, routeOptions: { url } }, reply, done) => {
    metrics.observe({
      method,
      route: url === undefined ? 'unmatched' : (declared.get(url) ?? url),
      status: reply.raw.statusCode,
      seconds: reply.elapsedTime / 1_000,
    });
    done();
  });
}
