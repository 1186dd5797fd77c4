import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Answers } from '../answer.js';
import { Admission, type AdmissionStatistics } from './admission.js';
import type { Ticket } from './gate.js';
import { shardInPath } from './path-shard.js';
import { refusalOf } from './refusal.js';

/** What a gatekeeper works with. */
export interface GatekeeperOptions {
  readonly answers: Pick<Answers, 'send' | 'refused' | 'closing'>;
  /** Default: one with the system's clock. */
  readonly admission?: Admission;
  /** Monotonic milliseconds. Default: the system's. */
  readonly nowMs?: () => number;
}

/** Served whatever else is under way: operators need them most under overload, and they cost next to nothing. */
const ALWAYS: ReadonlySet<string> = new Set([
  '/health/live',
  '/health/ready',
  '/metrics',
  '/docs',
  '/openapi.json',
]);
/** Requests that came back too early are looked at so often, in milliseconds. */
const HOLD_STEP_MS = 50;
/** A request that came back too early is held for so long at most, in milliseconds. */
const LONGEST_HOLD_MS = 8_000;
/** Requests that came back too early and are refused at once, per second. */
const EARLY_PER_SECOND = 200;

interface Held {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly handle: RequestListener;
  readonly shard: number;
  readonly untilMs: number;
}

/**
 * The server's side of admission. At the head of a request: refused if its shard is full, from the path alone and
 * before the body is read. When the body is there: admitted, made to wait, or refused.
 *
 * A client that comes back before its `Retry-After` is over is held until then while there are many of them: refusing
 * it at once would only bring it back at once.
 */
export class Gatekeeper {
  readonly #admission: Admission;
  readonly #answers: GatekeeperOptions['answers'];
  readonly #nowMs: () => number;
  readonly #returns = new WeakMap<Socket, number>();
  #held: Held[] = [];
  #timer: NodeJS.Timeout | undefined;
  #early = { sinceMs: 0, count: 0 };

  constructor(options: GatekeeperOptions) {
    this.#answers = options.answers;
    this.#admission = options.admission ?? new Admission();
    this.#nowMs = options.nowMs ?? (() => performance.now());
  }

  get statistics(): AdmissionStatistics {
    return this.#admission.statistics;
  }

  /** A listener that hands on what is not refused. */
  guard(handle: RequestListener): RequestListener {
    return (request, response) => {
      const { url = '/' } = request;
      const shard = shardInPath(url);
      if (!this.#admission.isFull(shard) || ALWAYS.has(url)) handle(request, response);
      else if (this.#mustHold(request.socket)) this.#hold({ request, response, handle, shard });
      else this.#refuse(request, response, shard, this.#admission.refuse(shard));
    };
  }

  /**
   * Asks for a place for a request that has arrived as a whole. If there is none, it is answered here.
   *
   * @param admitted called with the place, at once or soon
   */
  enter(request: IncomingMessage, response: ServerResponse, admitted: (ticket: Ticket) => void): void {
    const shard = shardInPath(request.url ?? '/');
    this.#admission.enter(shard, {
      admitted,
      refused: (returnMs) => this.#refuse(request, response, shard, returnMs),
      get isGone() {
        return response.destroyed;
      },
    });
  }

  /** Answers what is held: a server that closes makes nobody wait. */
  release(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#decide(Number.POSITIVE_INFINITY);
  }

  #refuse(request: IncomingMessage, response: ServerResponse, shard: number, returnMs: number): void {
    this.#answers.refused(shard);
    this.#returns.set(request.socket, this.#nowMs() + returnMs);
    if (response.headersSent || response.destroyed) return;
    const { headers, body } = refusalOf(request, shard, returnMs);
    this.#answers.send(response, 503, headers, body);
  }

  /** Whether a client has come back too early, with more others than may be refused at once. */
  #mustHold(socket: Socket): boolean {
    const returnAt = this.#returns.get(socket);
    const nowMs = this.#nowMs();
    if (returnAt === undefined || nowMs >= returnAt || this.#answers.closing) return false;
    if (nowMs - this.#early.sinceMs >= 1_000) this.#early = { sinceMs: nowMs, count: 0 };
    this.#early.count += 1;
    return this.#early.count > EARLY_PER_SECOND;
  }

  #hold(request: Omit<Held, 'untilMs'>): void {
    const nowMs = this.#nowMs();
    const returnAt = this.#returns.get(request.request.socket) ?? nowMs;
    this.#held.push({ ...request, untilMs: Math.min(returnAt, nowMs + LONGEST_HOLD_MS) });
    this.#timer ??= setTimeout(() => this.#step(), HOLD_STEP_MS).unref();
  }

  #step(): void {
    this.#timer = undefined;
    this.#decide(this.#nowMs());
    if (this.#held.length > 0) this.#timer = setTimeout(() => this.#step(), HOLD_STEP_MS).unref();
  }

  #decide(nowMs: number): void {
    const due = this.#held.filter(({ untilMs }) => untilMs <= nowMs);
    if (due.length === 0) return;
    this.#held = this.#held.filter(({ untilMs }) => untilMs > nowMs);
    for (const { request, response, handle, shard } of due) {
      if (response.destroyed) continue;
      if (!this.#admission.isFull(shard)) handle(request, response);
      else this.#refuse(request, response, shard, this.#admission.refuse(shard));
    }
  }
}
