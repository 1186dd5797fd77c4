import { createConnection, createServer, type Server, type Socket } from 'node:net';

/** The target of a proxy. */
export interface ProxyTarget {
  readonly host: string;
  readonly port: number;
}

/** A TCP proxy on the loopback interface that can go silent, as after a pulled network cable. */
export class StallingProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;
  readonly #lead: (target: ProxyTarget) => void;

  private constructor(
    server: Server,
    port: number,
    sockets: Set<Socket>,
    lead: (target: ProxyTarget) => void,
  ) {
    this.#server = server;
    this.port = port;
    this.#sockets = sockets;
    this.#lead = lead;
  }

  static async start(target: ProxyTarget): Promise<StallingProxy> {
    const sockets = new Set<Socket>();
    let { host, port } = target;
    const server = createServer((near) => {
      const far = createConnection(port, host);
      for (const [from, to] of [[near, far] as const, [far, near] as const]) {
        sockets.add(from);
        from.setNoDelay(true);
        from.on('data', (chunk) => to.write(chunk));
        from.on('error', () => {});
        from.on('close', () => {
          sockets.delete(from);
          to.destroy();
        });
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('No port');
    return new StallingProxy(server, address.port, sockets, (next) => {
      ({ host, port } = next);
    });
  }

  /** Directs new connections to another target. Open ones stay. */
  lead(target: ProxyTarget): void {
    this.#lead(target);
  }

  /** From now on no byte passes in either direction, and neither side is notified. */
  stall(): void {
    for (const socket of this.#sockets) socket.pause();
  }

  resume(): void {
    for (const socket of this.#sockets) socket.resume();
  }

  /** Cuts every connection. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
