import type { IncomingMessage, ServerResponse } from 'node:http';
import { RawConnection } from '../../../test/http/raw-connection.js';
import { Admission } from '../admission/admission.js';
import type { Ticket } from '../admission/gate.js';
import { Gatekeeper } from '../admission/gatekeeper.js';
import { shardInPath } from '../admission/path-shard.js';
import { Answers } from '../answer.js';
import { Connections } from '../connection/connections.js';
import { httpListener } from '../connection/http-listener.js';
import { DEFAULT_HTTP_LIMITS } from '../limits.js';
import { collectLog } from './collect-log.js';

/** Places that a shard has at first, and requests that may wait for them. */
const PLACES = 256;
/** The clock is read at least this often while time passes, in milliseconds. */
const STEP_MS = 20;

export const PATH = '/wallets/01942f5e-7c00-7a3b-8040-5d0e9c6b1f27/deposit';

/** A server without routes behind a gatekeeper, whose clock the test advances. */
export class GuardedServer {
  readonly gatekeeper: Gatekeeper;
  readonly admission: Admission;
  /** Bodies that were served. */
  readonly served: string[] = [];
  /** Requests that the parser has read. */
  parsed = 0;
  /** Serves a request. Default: its body is recorded and it is answered with 200, without a place. */
  serve: (request: IncomingMessage, response: ServerResponse) => void = (request, response) => {
    let body = '';
    request.on('data', (bytes) => {
      body += String(bytes);
    });
    request.on('end', () => {
      this.served.push(body);
      response.end('served');
    });
  };
  readonly #connections = new Connections(DEFAULT_HTTP_LIMITS);
  readonly #clients: RawConnection[] = [];
  readonly #places: Ticket[] = [];
  #nowMs = 0;
  #due: (() => void)[] = [];
  #port = 0;

  private constructor() {
    const nowMs = (): number => this.#nowMs;
    this.admission = new Admission({ nowMs, later: (work) => void this.#due.push(work) });
    this.gatekeeper = new Gatekeeper({
      answers: new Answers({ log: collectLog([]), connections: this.#connections }),
      connections: this.#connections,
      admission: this.admission,
      keepAliveTimeoutMs: DEFAULT_HTTP_LIMITS.keepAliveTimeoutMs,
      nowMs,
      hasHooks: false,
    });
  }

  /** Listens, with all places taken and as many requests waiting as may. */
  static async start(): Promise<GuardedServer> {
    const server = new GuardedServer();
    await server.#listen();
    server.fill(2 * PLACES);
    return server;
  }

  async #listen(): Promise<void> {
    const request = this.gatekeeper.guard((message, response) => this.serve(message, response));
    const connections = this.#connections;
    const server = httpListener(DEFAULT_HTTP_LIMITS, { request, expectation: request, connections });
    server.on('request', () => {
      this.parsed += 1;
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('No port');
    this.#port = address.port;
  }

  /** Requests of other clients that enter. */
  fill(count: number): void {
    const entrant = {
      admitted: (ticket: Ticket) => void this.#places.push(ticket),
      refused: () => {},
      isGone: false,
    };
    for (let each = 0; each < count; each += 1) this.admission.enter(shardInPath(PATH), entrant);
  }

  /** Requests of other clients end: default all, and those that get their places meanwhile. */
  free(count: number = Number.POSITIVE_INFINITY): void {
    for (let each = 0; each < count && this.#places.length > 0; each += 1) this.#places.shift()?.leave(false);
  }

  /** Time passes, and the queue is checked. */
  pass(ms: number): void {
    for (let left = ms; left > 0; left -= STEP_MS) {
      this.#nowMs += Math.min(left, STEP_MS);
      for (const work of this.#due.splice(0)) work();
    }
  }

  async connect(): Promise<RawConnection> {
    const client = await RawConnection.open(this.#port);
    this.#clients.push(client);
    return client;
  }

  close(): Promise<void> {
    for (const { socket } of this.#clients.splice(0)) socket.destroy();
    return this.#connections.drain(0, () => {});
  }
}

/** Sends a request and waits for its answer. @returns its status */
export async function ask(client: RawConnection, ...pieces: readonly string[]): Promise<number> {
  const before = client.answers.length;
  for (const piece of pieces) {
    client.write(piece);
    // A piece of its own for the server, too.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const answers = await client.untilAnswers(before + 1);
  return answers[before]?.status ?? 0;
}
