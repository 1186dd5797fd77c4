import { Counter, type Registry } from 'prom-client';
import { Durations } from '../concurrency/durations.js';
import { addDurations } from './duration-metric.js';

/** One answered request of the HTTP server. */
export interface HttpAnswer {
  readonly method: string;
  /** Path as declared, such as `/wallets/{id}`; `unmatched` for a path without a route. */
  readonly route: string;
  readonly status: number;
  /** Time from the head of the request to the end of the answer, in milliseconds. */
  readonly ms: number;
  /** Of its trace, if that is sampled. */
  readonly traceId: string | undefined;
}

/** The answers of one method and route. */
interface Answered {
  readonly method: string;
  readonly route: string;
  readonly statuses: Map<number, number>;
  readonly durations: Durations;
}

/** Counts answers by route. */
export class HttpAnswers {
  /** By route, then by method. */
  readonly #routes = new Map<string, Map<string, Answered>>();

  constructor(registry: Registry) {
    const requests = new Counter({
      name: 'fw_http_requests_total',
      help: 'Requests by response status. `route` is the declared path, or `unmatched`',
      labelNames: ['method', 'route', 'status'],
      registers: [registry],
      collect: () => {
        requests.reset();
        for (const { method, route, statuses } of this.#all())
          for (const [status, count] of statuses) requests.inc({ method, route, status }, count);
      },
    });
    addDurations(registry, {
      name: 'fw_http_request_duration_seconds',
      help: 'Time from the head of a request to the end of its response',
      read: () => this.#all().map(({ method, route, durations }) => [{ method, route }, durations]),
    });
  }

  add({ method, route, status, ms, traceId }: HttpAnswer): void {
    const { statuses, durations } = this.#of(method, route);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    durations.add(ms, traceId);
  }

  #all(): readonly Answered[] {
    return [...this.#routes.values()].flatMap((methods) => [...methods.values()]);
  }

  #of(method: string, route: string): Answered {
    const known = this.#routes.get(route)?.get(method);
    if (known !== undefined) return known;
    const methods = this.#routes.get(route) ?? new Map<string, Answered>();
    const answered: Answered = { method, route, statuses: new Map(), durations: new Durations() };
    this.#routes.set(route, methods.set(method, answered));
    return answered;
  }
}
