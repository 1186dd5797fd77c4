import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { sleep, time } from '../concurrency/time.js';

/** Requests of one connection, in progress and waiting; the connection of a client that pipelines more is closed. */
const MOST_PIPELINED = 64;
/** Interval of the checks of a closing server, in milliseconds. */
const CHECK_MS = 25;
/** Checks before idle connections are closed (a second): their next request may be in transit. */
const IDLE_CHECKS = 40;
/** Without a new connection for this time, all clients wait for answers, in milliseconds. */
const SETTLED_MS = 50;
/** Maximum time for which requests are held before the server stops listening, in milliseconds. */
const SETTLE_WITHIN_MS = 5_000;

/** The requests of one connection. */
interface Pipeline {
  /** Requests that are not answered, in progress or waiting. */
  open: number;
  readonly waiting: (() => void)[];
  /** Whether an answer ends the connection: what follows is ignored until it closes. */
  isRefused: boolean;
  /** Whether the authorities that verified its client have changed: the answer in progress is the last one. */
  isOutdated: boolean;
  last: { readonly request: IncomingMessage; readonly response: ServerResponse };
  /** Called once all requests are answered. */
  after: (() => void) | undefined;
}

/** What happens to a request. `refuse`: its answer must close the connection. */
export type Entry = 'begins' | 'refuse' | 'ignore';

/**
 * The requests in progress on each connection. They are served in order of arrival, as RFC 9112 demands of requests
 * that are not safe, and a client that pipelines costs the memory of `MOST_PIPELINED` requests at most.
 */
export class OpenConnections {
  readonly #pipelines = new WeakMap<Socket, Pipeline>();
  /** Answers that end their connections. */
  readonly #last = new WeakSet<ServerResponse>();
  #accepted = 0;
  /** Open connections; for HTTPS the sockets below TLS, also of handshakes in progress. */
  readonly #sockets = new Set<Socket>();
  /** Connections with requests that are not answered. */
  readonly #busy = new Set<Pipeline>();
  /** Requests that begin when the server has stopped listening. */
  #held: (() => void)[] | undefined;
  /** Set once the server no longer listens: each answer then ends its connection. */
  endsConnections = false;

  /** Watches a server that does not listen yet. @param most further connections are closed */
  watch(server: Server, most: number): void {
    server.on('connection', (socket: Socket) => {
      this.#accepted += 1;
      this.#sockets.add(socket);
      // Not by `maxConnections`, because a server may listen on several sockets.
      if (this.#sockets.size > most) socket.destroy();
      socket.once('close', () => this.#sockets.delete(socket));
    });
    // A time-out of the socket ends idle connections and those of clients that read no answers, not running requests.
    server.on('timeout', (socket: Socket) => {
      if (socket.writableLength > 0 || (this.#pipelines.get(socket)?.open ?? 0) === 0) socket.destroy();
    });
  }

  /** Must be called at the head of each request. @param begin called at once or later, in order of arrival */
  enter(request: IncomingMessage, response: ServerResponse, begin: () => void): Entry {
    const { socket } = request;
    const pipeline = this.#pipelines.get(socket) ?? this.#add(socket, { request, response });
    if (pipeline.isRefused) return 'ignore';
    pipeline.last = { request, response };
    pipeline.open += 1;
    if (pipeline.open === 1) this.#busy.add(pipeline);
    // A response closes once; `on` spares the wrapper of `once`, for every request.
    response.on('close', () => this.#left(pipeline, response));
    if (pipeline.open > MOST_PIPELINED) {
      pipeline.isRefused = true;
      // Node goes on with each request of the bytes at hand; what follows is not read any more.
      time.setImmediate(() => socket.pause());
      return 'refuse';
    }
    if (pipeline.open === 1) this.#begin(begin);
    else
      pipeline.waiting.push(() => {
        // The responses behind that of a client that has left are never closed.
        if (socket.destroyed) this.#busy.delete(pipeline);
        else this.#begin(begin);
      });
    return 'begins';
  }

  #begin(begin: () => void): void {
    if (this.#held === undefined) begin();
    else this.#held.push(begin);
  }

  /** Whether this answer must be the last one of its connection. Pipelined requests behind it are answered, too. */
  mustEnd(socket: Socket): boolean {
    const { isOutdated = false, waiting = [] } = this.#pipelines.get(socket) ?? {};
    return isOutdated || (this.endsConnections && waiting.length === 0);
  }

  /** Ends connections whose clients former authorities have verified: busy ones with the answer in progress. */
  outdate(): void {
    const busy = new Set<string>();
    for (const pipeline of this.#busy) {
      pipeline.isOutdated = true;
      busy.add(peerOf(pipeline.last.request.socket));
    }
    for (const socket of this.#sockets) if (!busy.has(peerOf(socket))) socket.destroy();
  }

  /** Must be called for an answer that ends its connection: a request behind it would run and get no answer. */
  endWith(response: ServerResponse): void {
    this.#last.add(response);
  }

  /** Calls back when the client will not take another answer for that of an earlier request. */
  afterAnswers(socket: Socket, answer: () => void): void {
    const pipeline = this.#pipelines.get(socket);
    if (pipeline === undefined) {
      answer();
      return;
    }
    const { open, last } = pipeline;
    const isBroken = !last.request.complete;
    // The answer that was sent refuses the body that is broken.
    if (isBroken && (open === 0 || last.response.headersSent)) socket.destroySoon();
    else if (open === 0 || (open === 1 && isBroken)) answer();
    else pipeline.after = answer;
  }

  #add(socket: Socket, last: Pipeline['last']): Pipeline {
    const pipeline: Pipeline = {
      ...{ open: 0, waiting: [], last, after: undefined },
      ...{ isRefused: false, isOutdated: false },
    };
    this.#pipelines.set(socket, pipeline);
    return pipeline;
  }

  #left(pipeline: Pipeline, response: ServerResponse): void {
    pipeline.open -= 1;
    // Headers without `Connection: close` may have been sent before.
    if (pipeline.isOutdated) pipeline.last.request.socket.destroySoon();
    if (this.#last.has(response) || pipeline.isOutdated) {
      pipeline.isRefused = true;
      this.#busy.delete(pipeline);
      return;
    }
    const next = pipeline.waiting.shift();
    // In a later turn of the event loop, so that other connections get turns too.
    if (next !== undefined) time.setImmediate(next);
    else if (pipeline.open === 0) {
      this.#busy.delete(pipeline);
      pipeline.after?.();
    }
  }

  /**
   * Stops listening, and resolves when all connections are closed.
   *
   * @param listeners what stops listening
   * @param graceMs time after which all remaining connections are closed
   * @param deaf called after the server has stopped listening
   */
  async drain(server: Server, listeners: { stop(): void }, graceMs: number, deaf: () => void): Promise<void> {
    const untilMs = time.nowMs() + graceMs;
    if (server.listening) await this.#acceptAll(Math.min(SETTLE_WITHIN_MS, graceMs / 2));
    if (server.listening) listeners.stop();
    this.endsConnections = true;
    deaf();
    for (const begin of this.#held?.splice(0) ?? []) begin();
    this.#held = undefined;
    for (let check = 0; this.#sockets.size > 0; check += 1) {
      // Node's own method passes over handshakes in progress.
      if (time.nowMs() >= untilMs) for (const socket of this.#sockets) socket.destroy();
      else if (check >= IDLE_CHECKS) server.closeIdleConnections();
      await sleep(CHECK_MS);
      // Bytes that have arrived are read before this.
      await turns(1);
    }
  }

  /**
   * Connections that the kernel has accepted and the process has not are reset when the process stops listening. Until
   * no more arrive, no request begins: clients that wait for answers do not reconnect.
   */
  async #acceptAll(withinMs: number): Promise<void> {
    this.#held = [];
    const untilMs = time.nowMs() + withinMs;
    for (let isSettled = false; !isSettled && time.nowMs() < untilMs; ) {
      const before = this.#accepted;
      await sleep(SETTLED_MS);
      // A busy event loop is late with its timers: what arrived meanwhile is accepted in the turns after.
      await turns(3);
      // A stream ends when the server has stopped listening.
      const unanswered = [...this.#busy].filter(({ last }) => !last.response.headersSent);
      isSettled = this.#accepted === before && unanswered.length === this.#held.length;
    }
    await turns(1);
  }
}

/** The same for a TLS socket and the socket below it. */
function peerOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1)
    await new Promise<void>((resolve) => void time.setImmediate(resolve));
}
