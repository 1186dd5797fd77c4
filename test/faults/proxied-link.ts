import { createConnection, type Socket } from 'node:net';
import { bytesThrough, type Fault } from './fault.js';
import { WireFraming } from './wire-framing.js';

export interface LinkEvents {
  readonly nextFault: (request: Buffer) => Fault | undefined;
  readonly struck: (fault: Fault) => void;
  /** Both sides are closed. */
  readonly closed: () => void;
}

/** How long the server's side of a connection outlives a client that could not tell it that it left, in milliseconds. */
const LINGER_MS = 150;

/** One connection through the proxy. */
export class ProxiedLink {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #events: LinkEvents;
  readonly #requests = WireFraming.requests();
  readonly #replies = WireFraming.replies();
  /** What is to happen to the next reply. */
  #replyFault: Fault | undefined;
  /** Nothing gets through any more, and nobody is told. */
  #silent = false;
  /** The client's side is gone, and the server is to finish what it was asked for. */
  #orphaned = false;

  constructor(client: Socket, target: { readonly host: string; readonly port: number }, events: LinkEvents) {
    this.#client = client;
    this.#server = createConnection(target.port, target.host);
    this.#events = events;
    for (const socket of [client, this.#server]) socket.setNoDelay(true).on('error', () => {});
    client.on('data', (chunk) => this.#fromClient(chunk));
    this.#server.on('data', (chunk) => this.#fromServer(chunk));
    client.on('close', () => this.#clientClosed());
    this.#server.on('close', () => this.#serverClosed());
  }

  destroy(): void {
    this.#client.destroy();
    this.#server.destroy();
  }

  #fromClient(chunk: Buffer): void {
    if (this.#silent) return;
    for (const run of this.#requests.push(chunk)) this.#request(run);
  }

  #fromServer(chunk: Buffer): void {
    for (const run of this.#replies.push(chunk)) this.#reply(run);
  }

  #request(run: Buffer): void {
    if (this.#silent || this.#orphaned) return;
    const fault = this.#events.nextFault(run);
    if (fault === undefined) this.#server.write(run);
    else if (fault.kind === 'late') this.#deliverLate(run, fault);
    else if (fault.kind === 'lost-reply' || fault.direction === 'reply') {
      this.#replyFault = fault;
      this.#server.write(run);
    } else this.#strike(fault, run, { from: this.#client, to: this.#server });
  }

  #reply(run: Buffer): void {
    if (this.#orphaned) this.#server.end();
    if (this.#silent || this.#orphaned) return;
    const fault = this.#replyFault;
    this.#replyFault = undefined;
    if (fault === undefined) this.#client.write(run);
    else if (fault.kind === 'lost-reply') this.#loseReply(fault);
    else if (fault.kind !== 'late') this.#strike(fault, run, { from: this.#server, to: this.#client });
  }

  #strike(
    fault: Extract<Fault, { readonly direction: unknown }>,
    run: Buffer,
    { from, to }: { readonly from: Socket; readonly to: Socket },
  ): void {
    this.#events.struck(fault);
    switch (fault.kind) {
      case 'tear':
        to.write(bytesThrough(run, fault.share), () => this.#cut(fault.how));
        return;
      case 'stall':
        this.#silent = true;
        to.write(bytesThrough(run, fault.share));
        return;
      case 'delay':
        from.pause();
        setTimeout(() => {
          from.resume();
          to.write(run);
        }, fault.delayMs);
    }
  }

  #cut(how: 'reset' | 'end'): void {
    for (const socket of [this.#client, this.#server]) {
      if (how === 'reset') socket.resetAndDestroy();
      else socket.destroySoon();
    }
  }

  #deliverLate(run: Buffer, fault: Extract<Fault, { readonly kind: 'late' }>): void {
    this.#events.struck(fault);
    this.#orphaned = true;
    this.#client.resetAndDestroy();
    setTimeout(() => this.#server.write(run), fault.delayMs);
  }

  #loseReply(fault: Fault): void {
    this.#events.struck(fault);
    this.#client.resetAndDestroy();
    this.#server.end();
  }

  #clientClosed(): void {
    if (this.#silent) setTimeout(() => this.#server.destroy(), LINGER_MS);
    else if (!this.#orphaned) this.#server.destroySoon();
    this.#noteClosed();
  }

  #serverClosed(): void {
    if (!this.#silent) {
      this.#client.write(this.#replies.takeRest());
      this.#client.destroySoon();
    }
    this.#noteClosed();
  }

  #noteClosed(): void {
    if (this.#client.destroyed && this.#server.destroyed) this.#events.closed();
  }
}
