import { createServer, type Server, type Socket } from 'node:net';
import type { Fault, FaultKind } from './fault.js';
import { ProxiedLink } from './proxied-link.js';

/**
 * A proxy on the loopback interface between clients and a PostgreSQL server. It parses the protocol to find the ends of
 * requests and replies, and applies the fault that `nextFault` returns to each of them.
 */
export class FaultProxy {
  readonly host = '127.0.0.1';
  readonly port: number;
  /** Called for each request, with its bytes; may be replaced at any time. */
  nextFault: (request: Buffer) => Fault | undefined = () => undefined;
  /** Number of faults so far, by kind. */
  readonly struck: Map<FaultKind, number> = new Map();
  readonly #server: Server;
  readonly #links: Set<ProxiedLink> = new Set();

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  static async start(target: { readonly host: string; readonly port: number }): Promise<FaultProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('No port');
    const proxy = new FaultProxy(server, address.port);
    server.on('connection', (client) => proxy.#accept(client, target));
    return proxy;
  }

  /** Number of all faults so far. */
  get struckInAll(): number {
    return [...this.struck.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Number of open connections on either side, including stalled ones and those with a late request. */
  get open(): number {
    return this.#links.size;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const link of this.#links) link.destroy();
    await closed;
  }

  #accept(client: Socket, target: { readonly host: string; readonly port: number }): void {
    const link = new ProxiedLink(client, target, {
      nextFault: (request) => this.nextFault(request),
      struck: ({ kind }) => this.struck.set(kind, (this.struck.get(kind) ?? 0) + 1),
      closed: () => this.#links.delete(link),
    });
    this.#links.add(link);
  }
}
