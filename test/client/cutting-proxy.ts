import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { SeededRandom } from '../faults/seeded-random.js';

/** The faults of a request, with their weights. */
const FAULTS = {
  none: 5,
  /** The connection is cut, and the server never sees the request. */
  request: 1,
  /** The server processes the request, and the connection is cut before the answer. */
  answer: 2,
  /** Only the first half of the answer arrives. */
  half: 1,
  /** The request arrives late: the client may have given up by then. */
  late: 1,
};

export type HttpFault = keyof typeof FAULTS;

/** Maximum delay of a late request, in milliseconds. */
const LATE_MS = 400;

/** A TCP proxy before an HTTP server that cuts and delays requests and their answers, by a seed. */
export class CuttingProxy {
  readonly url: string;
  /** Number of requests per fault. */
  readonly struck: Record<HttpFault, number> = { none: 0, request: 0, answer: 0, half: 0, late: 0 };
  /** Whether faults are active. */
  isHurting = false;
  readonly #server: Server;
  readonly #random: SeededRandom;
  readonly #sockets: Set<Socket> = new Set();
  #target = 0;

  private constructor(server: Server, url: string, seed: number) {
    this.#server = server;
    this.url = url;
    this.#random = new SeededRandom(seed);
  }

  static async start(seed: number): Promise<CuttingProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('No port');
    const proxy = new CuttingProxy(server, `http://127.0.0.1:${address.port}`, seed);
    server.on('connection', (near) => proxy.#accept(near));
    return proxy;
  }

  /** Directs new connections to another server. */
  lead(url: string): void {
    this.#target = Number(new URL(url).port);
  }

  /** Cuts every connection. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(near: Socket): void {
    const far = createConnection(this.#target, '127.0.0.1');
    let fault: HttpFault = 'none';
    for (const [from, to] of [[near, far] as const, [far, near] as const]) {
      this.#sockets.add(from);
      from.setNoDelay(true);
      from.on('error', () => {});
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
    // Requests are small: each arrives in one piece, and the next one is sent after its answer.
    near.on('data', (request) => {
      fault = this.isHurting ? this.#random.weighted(FAULTS) : 'none';
      this.struck[fault] += 1;
      if (fault === 'request') near.resetAndDestroy();
      else if (fault === 'late') setTimeout(() => far.write(request), this.#random.next() * LATE_MS);
      else far.write(request);
    });
    far.on('data', (answer) => {
      if (fault !== 'answer' && fault !== 'half') near.write(answer);
      else if (fault === 'answer') near.resetAndDestroy();
      else near.end(answer.subarray(0, answer.length / 2));
    });
  }
}
