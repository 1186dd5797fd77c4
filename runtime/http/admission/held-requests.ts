import { type Timer, time } from '../../concurrency/time.js';
import type { Connection } from '../connection/connection.js';

/** The used members of a connection. */
export type ReturningConnection = Pick<Connection, 'returnAtMs' | 'isOverdue' | 'isClosed' | 'letIn'>;

/** Dependencies of `HeldRequests`. */
export interface HeldRequestsOptions {
  /** Number of free places of a shard. */
  readonly freePlaces: (shard: number) => number;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  /** No request is held longer, in milliseconds. */
  readonly longestMs: number;
}

/** Requests that return early and are parsed and refused at once, per second. */
const AT_ONCE_PER_SECOND = 200;
/** How often held requests are checked, in milliseconds. */
const STEP_MS = 50;

interface Held {
  readonly connection: ReturningConnection;
  readonly untilMs: number;
}

/**
 * Holds requests of clients that return before the end of their `Retry-After`. A client that is refused at once returns
 * at once, and some thousands of them would use up the processor. A held request is not parsed, which costs almost
 * nothing. It is held until its `Retry-After` is over or a place is free. The newest request is admitted first, because
 * its client is the most likely to be still waiting.
 */
export class HeldRequests {
  readonly #options: HeldRequestsOptions;
  /** By shard, the oldest first. */
  readonly #held = new Map<number, Held[]>();
  #timer: Timer | undefined;
  #atOnce = { sinceMs: 0, count: 0 };
  #isOpen = false;

  constructor(options: HeldRequestsOptions) {
    this.#options = options;
  }

  /** Number of held requests. */
  get count(): number {
    return [...this.#held.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /** Records that a client was refused and may retry after `returnMs`. */
  refused(connection: ReturningConnection, returnMs: number): void {
    connection.returnAtMs = this.#options.nowMs() + returnMs;
    connection.isOverdue = false;
  }

  /**
   * Whether a request that needs a place of this shard is held because it is too early. If so, `Connection.letIn` is
   * called later.
   */
  holds(connection: ReturningConnection, shard: number): boolean {
    const { longestMs, freePlaces } = this.#options;
    const { returnAtMs } = connection;
    if (returnAtMs === 0) return false;
    const nowMs = this.#options.nowMs();
    if (nowMs >= returnAtMs || this.#isOpen) {
      connection.returnAtMs = 0;
      return false;
    }
    if (freePlaces(shard) > 0 || this.#isAtOnce(nowMs)) return false;
    this.#hold(shard, { connection, untilMs: Math.min(returnAtMs, nowMs + longestMs) });
    return true;
  }

  /** Admits one held request, because a place of this shard is free. */
  letIn(shard: number): void {
    const held = this.#held.get(shard);
    for (;;) {
      const connection = held?.pop()?.connection;
      if (connection === undefined) return;
      if (connection.isClosed) continue;
      connection.returnAtMs = 0;
      connection.letIn();
      return;
    }
  }

  /** Admits all requests, including later ones: a closing server must not delay a client. */
  open(): void {
    this.#isOpen = true;
    time.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#letInUntil(Number.POSITIVE_INFINITY);
  }

  #isAtOnce(nowMs: number): boolean {
    if (nowMs - this.#atOnce.sinceMs >= 1_000) this.#atOnce = { sinceMs: nowMs, count: 0 };
    this.#atOnce.count += 1;
    return this.#atOnce.count <= AT_ONCE_PER_SECOND;
  }

  #hold(shard: number, held: Held): void {
    const others = this.#held.get(shard);
    if (others === undefined) this.#held.set(shard, [held]);
    else others.push(held);
    this.#stepLater();
  }

  #stepLater(): void {
    this.#timer ??= time
      .setTimeout(() => {
        this.#timer = undefined;
        for (const shard of this.#held.keys()) this.#fill(shard);
        this.#letInUntil(this.#options.nowMs());
        if (this.#held.size > 0) this.#stepLater();
      }, STEP_MS)
      .unref();
  }

  /**
   * A place may be free although no request has just ended: a limit was raised, or the client of an admitted request
   * has disconnected.
   */
  #fill(shard: number): void {
    for (let free = this.#options.freePlaces(shard); free > 0; free -= 1) this.letIn(shard);
  }

  #letInUntil(nowMs: number): void {
    for (const [shard, held] of this.#held) {
      const left: Held[] = [];
      for (const each of held) {
        if (each.untilMs > nowMs) left.push(each);
        else if (!each.connection.isClosed) this.#timeIsOver(each.connection);
      }
      if (left.length > 0) this.#held.set(shard, left);
      else this.#held.delete(shard);
    }
  }

  #timeIsOver(connection: ReturningConnection): void {
    connection.returnAtMs = 0;
    connection.isOverdue = true;
    connection.letIn();
  }
}
