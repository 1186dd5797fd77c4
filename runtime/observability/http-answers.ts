import { Durations } from '../concurrency/durations.js';

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

  get all(): readonly Answered[] {
    return [...this.#routes.values()].flatMap((methods) => [...methods.values()]);
  }

  add({ method, route, status, ms, traceId }: HttpAnswer): void {
    const { statuses, durations } = this.#of(method, route);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    durations.add(ms, traceId);
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
