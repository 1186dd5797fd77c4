import dns from 'node:dns';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, createServer, Server as NetServer } from 'node:net';

/** Sockets that listen on one port, the server's own included. */
const SOCKETS = 16;
/** From here on `reusePort` has an effect, except 23.0. */
const FIRST_RELEASE = [22, 12] as const;

/** Where a server listens. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** Clients that the kernel connects before the process accepts them. */
  readonly backlog: number;
}

/**
 * The sockets on which a server listens. libuv accepts one connection per socket and turn of the event loop. A turn
 * takes long while thousands of clients are busy, and the next ones would wait for minutes:
 *
 *     2,500 busy clients, 0.12 ms per request     1 socket accepts 3 clients per second, 16 sockets accept 50
 *
 * Several sockets share a port where the system and Node can (Linux, Node 22.12): the kernel distributes connections.
 */
export class Listeners {
  readonly #server: Server;
  readonly #further: NetServer[] = [];

  constructor(server: Server) {
    this.#server = server;
  }

  /** @param listen makes the server listen @returns the port @throws the system's error, such as `EADDRINUSE` */
  async listen(
    { host, port, backlog }: ListenAddress,
    listen: (options: ListenAddress & { readonly reusePort: boolean }) => Promise<unknown>,
  ): Promise<number> {
    const reusePort = canSharePorts(process.platform, process.versions.node);
    const addresses = host === 'localhost' ? await addressesOf(host) : [host];
    // Otherwise another process could share the port without notice.
    if (reusePort && port !== 0) for (const each of addresses) await requireFree(each, port);
    const sockets = addresses.flatMap((each) => new Array<string>(reusePort ? SOCKETS : 1).fill(each));
    const [first = host, ...others] = sockets;
    await listen({ host: first, port, backlog, reusePort });
    // The server listens on TCP, so that its address is no string.
    const { port: actual } = this.#server.address() as AddressInfo;
    for (const each of others) {
      const further = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
        this.#server.emit('connection', socket),
      );
      this.#further.push(further);
      further.listen({ host: each, port: actual, backlog, reusePort });
      await once(further, 'listening');
    }
    return actual;
  }

  /** Stops listening. Connections stay open. */
  stop(): void {
    // `close` of an HTTP server would also close connections whose next request is in transit.
    for (const each of [this.#server, ...this.#further]) NetServer.prototype.close.call(each);
  }
}

/** Whether several sockets of one process can listen on one port. */
export function canSharePorts(platform: string, release: string): boolean {
  const [major = 0, minor = 0] = release.split('.').map(Number);
  const isNew = major > FIRST_RELEASE[0] || (major === FIRST_RELEASE[0] && minor >= FIRST_RELEASE[1]);
  return platform === 'linux' && isNew && !(major === 23 && minor === 0);
}

/**
 * The addresses of this machine under a name: clients try ::1 first where `localhost` has it. Fastify would serve
 * further addresses by servers of its own, without the limits of this one.
 */
async function addressesOf(name: string): Promise<readonly string[]> {
  const found = new Set((await dns.promises.lookup(name, { all: true })).map(({ address }) => address));
  const usable: string[] = [];
  // A hosts file may name ::1 on a system without IPv6.
  for (const address of found)
    await requireFree(address, 0).then(
      () => usable.push(address),
      () => {},
    );
  return usable.length === 0 ? [name] : usable;
}

async function requireFree(host: string, port: number): Promise<void> {
  const probe = createServer();
  probe.listen({ host, port });
  await once(probe, 'listening');
  await new Promise((resolve) => probe.close(resolve));
}
