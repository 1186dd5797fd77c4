import { type Timer, time } from '../../concurrency/time.js';
import type { Connection } from '../connection/connection.js';

/** What is needed of a connection. */
export type ReturningConnection = Pick<Connection, 'returnAtMs' | 'isOverdue' | 'isClosed' | 'letIn'>;

/** What early returns work with. */
export interface EarlyReturnsOptions {
  /** How many places of a shard are free. */
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
 * Clients that were refused and come back before their `Retry-After` is over. To refuse such a client at once only
 * brings it back at once, and some thousands of them would take the processor. Their requests are therefore held back
 * before they are parsed, which costs next to nothing, until the `Retry-After` is over or a place is free.
 *
 * The newest is let in first, because its client is the most likely to be still waiting.
 */
export class EarlyReturns {
  readonly #options: EarlyReturnsOptions;
  /** By shard, the oldest first. */
  readonly #held = new Map<number, Held[]>();
  #timer: Timer | undefined;
  #atOnce = { sinceMs: 0, count: 0 };
  #isOpen = false;

  constructor(options: EarlyReturnsOptions) {
    this.#options = options;
  }

  /** Requests that are held back. */
  get count(): number {
    return [...this.#held.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /** Records that a client was refused and may retry after `returnMs`. */
  refused(connection: ReturningConnection, returnMs: number): void {
    connection.returnAtMs = this.#options.nowMs() + returnMs;
    connection.isOverdue = false;
  }

  /**
   * Whether a request that needs a place of this shard is held back because it has come too early. If so,
   * `Connection.letIn` is called later.
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

  /** Lets one request in, because a place of this shard is free. */
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

  /** Places can be free although no request has just ended: a limit has risen, or a client that was let in has gone. */
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
