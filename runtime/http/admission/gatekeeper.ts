import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { time } from '../../concurrency/time.js';
import type { Answers } from '../answer.js';
import type { Connection, RawRequestFilter, Verdict } from '../connection/connection.js';
import type { Connections } from '../connection/connections.js';
import { isOnePlainRequest, targetOf } from '../connection/raw-request.js';
import { Admission, type AdmissionStatistics } from './admission.js';
import type { Ticket } from './gate.js';
import { HeldRequests } from './held-requests.js';
import { shardInPath } from './path-shard.js';
import { rawRefusal, refusalOf } from './refusal.js';

/** Options of a gatekeeper. */
export interface GatekeeperOptions {
  readonly answers: Pick<Answers, 'send' | 'refused'>;
  readonly connections: Connections;
  /** Default: one with the system's clock. */
  readonly admission?: Admission;
  /** Monotonic milliseconds. Default: the system's. */
  readonly nowMs?: () => number;
  /** An idle connection is closed after this time. */
  readonly keepAliveTimeoutMs: number;
  /**
   * Whether hooks of plugins run before a request is refused. They may set headers such as
   * `Access-Control-Allow-Origin`.
   */
  readonly hasHooks: boolean;
  /**
   * Whether responses carry headers that depend on the request, so that every request must be parsed. Default false.
   */
  readonly marksAnswers?: boolean;
}

/** Paths that need no place: operators need them most under overload, and they cost almost nothing. */
const ALWAYS: ReadonlySet<string> = new Set([
  '/health/live',
  '/health/ready',
  '/metrics',
  '/docs',
  '/openapi.json',
]);
const NOTHING = (): void => {};
const PARSE: Verdict = { kind: 'parse' };
const HOLD: Verdict = { kind: 'hold' };
/** Maximum time that an early retry is held, in milliseconds. */
const LONGEST_HOLD_MS = 8_000;

/**
 * Applies admission to the requests of a server.
 *
 * - At the head of a request: refuses it if its shard is full. The path names the shard, so the body need not be read.
 * - When the body has arrived: admits, queues or refuses the request.
 * - Under overload, requests wait before they are parsed, so a refusal costs almost nothing. Requests of clients that
 * return before the end of their `Retry-After` are held in the same way.
 */
export class Gatekeeper implements RawRequestFilter {
  readonly #admission: Admission;
  readonly #answers: GatekeeperOptions['answers'];
  readonly #connections: Connections;
  readonly #early: HeldRequests;
  readonly #marksAnswers: boolean;
  #isReleased = false;
  /** Whether hooks call `refuses`, after those of plugins. */
  readonly hasHooks: boolean;

  constructor({
    answers,
    connections,
    keepAliveTimeoutMs,
    hasHooks,
    marksAnswers = false,
    admission = new Admission(),
    nowMs = () => time.nowMs(),
  }: GatekeeperOptions) {
    this.#answers = answers;
    this.hasHooks = hasHooks;
    this.#marksAnswers = marksAnswers;
    this.#connections = connections;
    this.#admission = admission;
    this.#early = new HeldRequests({
      freePlaces: (shard) => admission.freePlaces(shard),
      nowMs,
      // A connection on which nothing arrives for longer is closed.
      longestMs: Math.min(LONGEST_HOLD_MS, keepAliveTimeoutMs / 2),
    });
    admission.whenFree = (shard) => this.#early.letIn(shard);
    connections.rawFilter = this;
  }

  get statistics(): AdmissionStatistics & { readonly held: number } {
    return { ...this.#admission.statistics, held: this.#early.count };
  }

  judge(connection: Connection, bytes: Buffer): Verdict {
    if (connection.place !== undefined || this.#isReleased) return PARSE;
    if (connection.returnAtMs === 0 && !this.#admission.isCrowded) return PARSE;
    const target = targetOf(bytes);
    if (target === undefined || ALWAYS.has(target)) return PARSE;
    const shard = shardInPath(target);
    if (this.#early.holds(connection, shard)) return HOLD;
    const isRefused = this.#mustRefuse(connection, shard);
    if (!isRefused && !this.#admission.queuesBriefly(shard)) return PARSE;
    if (this.hasHooks || this.#marksAnswers || !connection.takesRawAnswers || !isOnePlainRequest(bytes))
      return PARSE;
    if (isRefused) {
      const returnMs = this.#admission.refuse(shard);
      return { kind: 'refuse', answer: this.#rawRefusal(connection, target, shard, returnMs) };
    }
    this.#admission.enter(shard, {
      admitted: (ticket) => connection.letIn(ticket),
      refused: (returnMs) => connection.turnAway(this.#rawRefusal(connection, target, shard, returnMs)),
      get isGone() {
        return connection.isClosed;
      },
    });
    return HOLD;
  }

  /**
   * A listener that passes on requests that are not refused. With hooks it passes on all requests, because hooks call
   * `refuses` themselves.
   */
  guard(handle: RequestListener): RequestListener {
    if (this.hasHooks) return handle;
    return (request, response) => {
      if (!this.refuses(request, response)) handle(request, response);
    };
  }

  /**
   * Refuses a request whose head has been read, if there is no place for it.
   *
   * @param refusing called before the response
   * @returns whether it was refused
   */
  refuses(request: IncomingMessage, response: ServerResponse, refusing: () => void = NOTHING): boolean {
    const { url = '/' } = request;
    if (ALWAYS.has(url)) return false;
    const shard = shardInPath(url);
    const connection = this.#connections.of(request.socket);
    if (connection?.place !== undefined || !this.#mustRefuse(connection, shard)) return false;
    refusing();
    this.#refuse(request, response, shard, this.#admission.refuse(shard));
    return true;
  }

  /**
   * Requests a place for a complete request. If there is none, the request is refused.
   *
   * @param admitted called with the place, at once or soon
   * @param refusing called before the response to a refused request
   */
  enter(
    request: IncomingMessage,
    response: ServerResponse,
    admitted: (ticket: Ticket) => void,
    refusing: () => void = NOTHING,
  ): void {
    const shard = shardInPath(request.url ?? '/');
    const connection = this.#connections.of(request.socket);
    if (connection !== undefined) connection.isOverdue = false;
    const place = connection?.takePlace();
    if (place !== undefined) {
      admitted(place);
      return;
    }
    this.#admission.enter(shard, {
      admitted,
      refused: (returnMs) => {
        refusing();
        this.#refuse(request, response, shard, returnMs);
      },
      get isGone() {
        return response.destroyed;
      },
    });
  }

  /** Releases all held requests: a closing server must not delay them. */
  release(): void {
    this.#isReleased = true;
    this.#early.open();
  }

  #mustRefuse(connection: Connection | undefined, shard: number): boolean {
    if (this.#admission.isFull(shard)) return true;
    return connection?.isOverdue === true && this.#admission.freePlaces(shard) === 0;
  }

  #refuse(request: IncomingMessage, response: ServerResponse, shard: number, returnMs: number): void {
    this.#noteRefusal(this.#connections.of(request.socket), shard, returnMs);
    if (response.headersSent || response.destroyed) return;
    const { headers, body } = refusalOf(request.url, shard, returnMs);
    this.#answers.send(response, 503, headers, body);
  }

  #rawRefusal(connection: Connection, target: string, shard: number, returnMs: number): string {
    this.#noteRefusal(connection, shard, returnMs);
    return rawRefusal(target, shard, { returnMs, headers: this.#connections.headers });
  }

  #noteRefusal(connection: Connection | undefined, shard: number, returnMs: number): void {
    this.#answers.refused(shard);
    if (connection !== undefined) this.#early.refused(connection, returnMs);
  }
}
