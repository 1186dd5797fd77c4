import { createConnection, createServer, type Server, type Socket } from 'node:net';

/** `reset`: connections end and none can be opened. `silent`: packets are lost, and neither side is notified. */
export type Cut = 'reset' | 'silent';

/** The network between a relay and a broker on this machine, which can be cut. */
export class CutNetwork {
  readonly #server: Server;
  readonly #links = new Set<readonly [Socket, Socket]>();
  #cut: Cut | undefined;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Listens on `port` and forwards to `target`. */
  static async start({
    port,
    target,
  }: {
    readonly port: number;
    readonly target: number;
  }): Promise<CutNetwork> {
    const server = createServer();
    const network = new CutNetwork(server);
    server.on('connection', (client) => network.#link(client, target));
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return network;
  }

  cut(how: Cut): void {
    this.#cut = how;
    for (const sockets of this.#links) {
      for (const socket of sockets) {
        if (how === 'reset') socket.resetAndDestroy();
        else socket.pause();
      }
    }
  }

  /** Delivers the delayed packets, as TCP retransmits them. */
  heal(): void {
    this.#cut = undefined;
    for (const sockets of this.#links) for (const socket of sockets) socket.resume();
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cut('reset');
    await closed;
  }

  #link(client: Socket, target: number): void {
    if (this.#cut === 'reset') {
      client.resetAndDestroy();
      return;
    }
    const link = [client, createConnection(target, '127.0.0.1')] as const;
    this.#links.add(link);
    const [, server] = link;
    for (const [from, to] of [link, [server, client]] as const) {
      from.setNoDelay(true);
      from.on('error', () => {});
      from.on('data', (chunk) => to.write(chunk));
      // The end of a connection does not pass a silent network either, until it heals.
      from.on('end', () => to.end());
      from.on('close', () => {
        if (this.#cut !== 'silent') to.destroySoon();
        if (client.destroyed && server.destroyed) this.#links.delete(link);
      });
      if (this.#cut === 'silent') from.pause();
    }
  }
}
