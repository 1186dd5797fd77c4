import { createConnection, type Socket } from 'node:net';
import { bytesThrough, type Fault } from './fault.js';
import { WireFraming } from './wire-framing.js';

export interface LinkEvents {
  readonly nextFault: (request: Buffer) => Fault | undefined;
  readonly struck: (fault: Fault) => void;
  /** Called when both sides are closed. */
  readonly closed: () => void;
}

type DirectedFault = Extract<Fault, { readonly direction: unknown }>;
type ReplyFault = DirectedFault | Extract<Fault, { readonly kind: 'lost-reply' }>;

/** Time for which the server's side outlives a client that could not send its end, in milliseconds. */
const LINGER_MS = 150;

/** One connection through the proxy. */
export class ProxiedLink {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #events: LinkEvents;
  readonly #requests = new Lane(WireFraming.requests(), (run) => this.#request(run));
  readonly #replies = new Lane(WireFraming.replies(), (run) => this.#reply(run));
  /** Faults of the next replies, one per request in flight. */
  readonly #replyFaults: (ReplyFault | undefined)[] = [];
  /** No byte passes any more, and neither side is notified. */
  #silent = false;
  /** The client's side is closed, and the server must finish its current request. */
  #orphaned = false;
  /** The server has received all bytes that it should get. */
  #complete = false;

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
    if (!this.#silent) this.#requests.push(chunk);
  }

  #fromServer(chunk: Buffer): void {
    this.#replies.push(chunk);
  }

  #request(run: Buffer): void {
    if (this.#silent || this.#orphaned) return;
    const fault = this.#events.nextFault(run);
    const isOnReply = fault !== undefined && isReplyFault(fault);
    this.#replyFaults.push(isOnReply ? fault : undefined);
    if (fault === undefined || isOnReply) this.#server.write(run);
    else if (fault.kind === 'late') this.#deliverLate(run, fault);
    else this.#strike(fault, run, { lane: this.#requests, to: this.#server });
  }

  #reply(run: Buffer): void {
    if (this.#complete) this.#server.end();
    if (this.#silent || this.#orphaned) return;
    const fault = this.#replyFaults.shift();
    if (fault === undefined) this.#client.write(run);
    else if (fault.kind === 'lost-reply') this.#loseReply(fault);
    else this.#strike(fault, run, { lane: this.#replies, to: this.#client });
  }

  #strike(
    fault: DirectedFault,
    run: Buffer,
    { lane, to }: { readonly lane: Lane; readonly to: Socket },
  ): void {
    this.#events.struck(fault);
    switch (fault.kind) {
      case 'tear':
        lane.stop();
        to.write(bytesThrough(run, fault.share), () => this.#cut(fault.how));
        return;
      case 'stall':
        this.#silent = true;
        to.write(bytesThrough(run, fault.share));
        return;
      case 'delay':
        lane.hold(fault.delayMs, () => {
          if (!this.#silent) to.write(run);
        });
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
    setTimeout(() => {
      this.#complete = true;
      this.#server.write(run);
    }, fault.delayMs);
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
    this.#replies.end((rest) => {
      if (this.#silent) return;
      this.#client.write(rest);
      this.#client.destroySoon();
    });
    this.#noteClosed();
  }

  #noteClosed(): void {
    if (this.#client.destroyed && this.#server.destroyed) this.#events.closed();
  }
}

function isReplyFault(fault: Fault): fault is ReplyFault {
  return fault.kind === 'lost-reply' || (fault.kind !== 'late' && fault.direction === 'reply');
}

/** One direction of a link, which preserves the order of runs. */
class Lane {
  readonly #framing: WireFraming;
  readonly #pass: (run: Buffer) => void;
  readonly #waiting: Buffer[] = [];
  #held = false;
  #atEnd: ((rest: Buffer) => void) | undefined;

  constructor(framing: WireFraming, pass: (run: Buffer) => void) {
    this.#framing = framing;
    this.#pass = pass;
  }

  push(chunk: Buffer): void {
    this.#waiting.push(...this.#framing.push(chunk));
    this.#passOn();
  }

  /** Blocks the direction for a while, then runs the delayed work. */
  hold(delayMs: number, then: () => void): void {
    this.#held = true;
    setTimeout(() => {
      then();
      this.#held = false;
      this.#passOn();
    }, delayMs);
  }

  /** Blocks the direction permanently. */
  stop(): void {
    this.#held = true;
  }

  /** Ends the input. The remaining bytes are not a complete run. */
  end(then: (rest: Buffer) => void): void {
    this.#atEnd = then;
    this.#passOn();
  }

  #passOn(): void {
    while (!this.#held && this.#waiting.length > 0) {
      const [run] = this.#waiting.splice(0, 1);
      if (run !== undefined) this.#pass(run);
    }
    if (this.#held) return;
    this.#atEnd?.(this.#framing.takeRest());
    this.#atEnd = undefined;
  }
}
