import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { time } from '../../concurrency/time.js';
import { MessageCutter } from './message-cutter.js';
import type { Turns } from './turns.js';

/** How long the bytes of a client are read and thrown away after the last answer, in milliseconds. */
const LINGER_MS = 2_000;

type Parse = (bytes: Buffer) => void;

/** A place among the requests in progress. */
interface Place {
  leave(isSample: boolean): void;
}

/** The handling of a request that has begun to arrive. */
export type Verdict =
  | { readonly kind: 'parse' }
  /** It is not parsed until `Connection.letIn` is called. */
  | { readonly kind: 'hold' }
  /** These bytes answer it, and it is not parsed at all. */
  | { readonly kind: 'refuse'; readonly answer: string };

/** Decides on requests before they are parsed. */
export interface Doorkeeper {
  /** @param bytes the first bytes of the request */
  judge(connection: Connection, bytes: Buffer): Verdict;
}

/** What all connections of a server share. */
export interface ConnectionSurroundings {
  /** While it is shut, no request is begun; `advance` must be called when it is opened. */
  readonly gate: { readonly isShut: boolean };
  /** Default: all requests are parsed. */
  readonly doorkeeper: Doorkeeper | undefined;
  readonly turns: Turns;
}

/**
 * One connection of a client. Requests are served one after the other: the parser gets the bytes of the next request
 * when the answer to the present one has left, and until then nothing more is read from the socket. So a client that
 * sends many requests at once, or takes no answers, costs the memory of one request, one answer and one read.
 */
export class Connection {
  readonly socket: Socket;
  readonly #parse: Parse;
  readonly #endInput: () => void;
  readonly #surroundings: ConnectionSurroundings;
  readonly #closed: () => void;
  readonly #cutter = new MessageCutter();
  /**
   * When the client should send its next request, in monotonic milliseconds: set when one is refused, 0 if it may send
   * at any time.
   */
  returnAtMs = 0;
  /** Its request was held back until the client should have sent it: it is refused unless there is a place for it. */
  isOverdue = false;
  #place: Place | undefined;
  /** Bytes that the parser has not got yet. */
  #unparsed: Buffer[] = [];
  /** The parser has got a part of a request whose head is not complete. */
  #hasBegun = false;
  /** Requests whose heads have been parsed. */
  #parsed = 0;
  /** The doorkeeper holds the next request back. */
  #isHeldBack = false;
  #request: IncomingMessage | undefined;
  #response: ServerResponse | undefined;
  #isPaused = false;
  #isAdvancing = false;
  /** Waits for its turn. */
  #isQueued = false;
  /** The client has sent all that it will ever send. */
  #hasEnded = false;
  /** Nothing that arrives is served any more. */
  #isDeaf = false;
  #isLingering = false;
  /** Checks an answer that was written and has not left. */
  #looks = 0;

  /**
   * Takes over a socket that an HTTP server has just accepted.
   *
   * @param closed called once, when the socket is closed
   */
  constructor(socket: Socket, surroundings: ConnectionSurroundings, closed: () => void) {
    this.socket = socket;
    this.#surroundings = surroundings;
    this.#closed = closed;
    this.#parse = takeListener(socket, 'data') as Parse;
    this.#endInput = takeListener(socket, 'end') as () => void;
    // A connection that ends with bytes unread is reset by the kernel, and its last answer is lost.
    const destroySoon = socket.destroySoon.bind(socket);
    socket.destroySoon = () => {
      if (this.#unparsed.length > 0) this.linger();
      else if (!this.#isLingering || this.#hasEnded) destroySoon();
      this.#isDeaf = true;
    };
    socket.on('data', this.#arrived);
    socket.on('end', this.#ended);
    socket.on('close', () => this.#close());
  }

  /** True while a request has arrived whole and its answer has not left. */
  get isAnswering(): boolean {
    return this.#request?.complete === true && this.#response !== undefined;
  }

  /** True while a request has arrived whole and nothing of its answer was sent. */
  get isAwaited(): boolean {
    return this.isAnswering && this.#response?.headersSent === false;
  }

  /** True if another answer would be taken for the one that is under way. */
  get isTaken(): boolean {
    return this.isAnswering || this.#response?.headersSent === true;
  }

  /**
   * Whether a request may be answered without the parser. Not the first one of a connection: Node's parser would wait
   * for that, and end the connection in the end. Nor while the client takes no answers, or has more requests.
   */
  get takesRawAnswers(): boolean {
    return (
      this.#parsed > 0 &&
      this.#unparsed.length === 1 &&
      !this.#hasEnded &&
      this.socket.writable &&
      this.socket.writableLength === 0
    );
  }

  get isClosed(): boolean {
    return this.socket.destroyed;
  }

  /** True while an answer is on its way, or bytes that arrived behind its request. */
  get isBusy(): boolean {
    return this.isAnswering || this.#unparsed.length > 0 || this.#isLingering;
  }

  /** True if more requests, or parts of them, have arrived behind the present one. */
  get hasMore(): boolean {
    return this.#unparsed.length > 0;
  }

  /** A request whose head has been parsed. */
  begin(request: IncomingMessage, response: ServerResponse): void {
    this.#request = request;
    this.#response = response;
    this.#looks = 0;
    this.#hasBegun = false;
    this.#parsed += 1;
    this.#cutter.startBody(request);
    response.once('finish', this.#answered);
  }

  /**
   * Counts the checks of an answer that is written and does not leave.
   *
   * @returns how many of them there have been in a row
   */
  look(): number {
    this.#looks = this.#response?.writableEnded === true ? this.#looks + 1 : 0;
    return this.#looks;
  }

  /**
   * Sends these last bytes and ends the connection, reading and throwing away for a while what the client still sends:
   * closed with unread bytes, the kernel would reset the connection, and the client would not see the answer.
   */
  linger(last?: string): void {
    if (this.#isDeaf) return;
    this.#isDeaf = true;
    this.#isLingering = true;
    this.#unparsed = [];
    const { socket } = this;
    if (last === undefined) socket.end();
    else socket.end(last);
    if (this.#hasEnded) {
      socket.once('finish', () => socket.destroy());
      return;
    }
    const timer = time.setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => time.clearTimeout(timer));
    socket.resume();
  }

  readonly #arrived = (bytes: Buffer): void => {
    if (this.#isDeaf) return;
    this.#unparsed.push(bytes);
    if (this.#isQueued || this.#isHeldBack) this.#pause();
    else this.#advanceInTurn();
  };

  #advanceInTurn(): void {
    this.#isQueued = true;
    this.#surroundings.turns.read(this.#takeTurn);
  }

  // Properties, so that a turn or an answer makes no function.
  readonly #takeTurn = (): void => {
    this.#isQueued = false;
    this.advance();
  };

  readonly #ended = (): void => {
    this.#hasEnded = true;
    if (this.#isDeaf) this.socket.destroySoon();
    else this.#advanceOnce();
  };

  #close(): void {
    this.#isDeaf = true;
    this.#unparsed = [];
    this.takePlace()?.leave(false);
    this.#closed();
  }

  readonly #answered = (): void => {
    this.#response = undefined;
    this.takePlace()?.leave(false);
    // One request of a connection in each turn of the event loop: others have their turns, too.
    if (this.#unparsed.length > 0 || this.#hasEnded) time.setImmediate(this.#advanceOnce);
  };

  readonly #advanceOnce = (): void => {
    if (!this.#isQueued) this.#advanceInTurn();
  };

  /**
   * Parses a request that the doorkeeper has held back.
   *
   * @param place kept for it until `takePlace`, and given back if it never takes it
   */
  letIn(place?: Place): void {
    this.#isHeldBack = false;
    this.#place = place;
    this.#advanceOnce();
  }

  /** Answers a request that the doorkeeper has held back without parsing it: the first bytes that have arrived. */
  turnAway(answer: string): void {
    this.#isHeldBack = false;
    this.#unparsed.shift();
    if (this.socket.writable) this.socket.write(answer, 'latin1');
    if (this.#unparsed.length > 0 || this.#hasEnded) this.#advanceOnce();
  }

  /** The place that is kept for the present request. */
  get place(): Place | undefined {
    return this.#place;
  }

  takePlace(): Place | undefined {
    const place = this.#place;
    this.#place = undefined;
    return place;
  }

  /** Gives the parser what it may have. */
  advance(): void {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    try {
      this.#parseAll();
    } finally {
      this.#isAdvancing = false;
    }
    if (this.#isDeaf) return;
    // A client that goes away while its request is held back is noticed only if its socket is read.
    if (this.#isHeldBack) this.#resume();
    else if (this.#unparsed.length > 0) this.#pause();
    else if (this.#hasEnded && this.#isReady()) this.#endInput();
    else this.#resume();
  }

  #parseAll(): void {
    while (!this.#isDeaf && this.#isReady()) {
      const bytes = this.#unparsed[0];
      if (bytes === undefined || !this.#mayBegin(bytes)) return;
      const length = this.#cutter.cut(bytes);
      if (length === bytes.length) this.#unparsed.shift();
      else this.#unparsed[0] = bytes.subarray(length);
      if (this.#request === undefined) this.#hasBegun = true;
      this.#parse(length === bytes.length ? bytes : bytes.subarray(0, length));
      if (this.#isUpgraded && !this.#isDeaf) this.#handOver();
    }
  }

  /** The HTTP server has taken its parser away, which others use now: the connection speaks another protocol. */
  get #isUpgraded(): boolean {
    return Reflect.get(this.socket, 'parser') === null;
  }

  /** Leaves the socket, with what has arrived behind the head, to the listeners of upgrades. */
  #handOver(): void {
    this.#isDeaf = true;
    this.socket.off('data', this.#arrived).off('end', this.#ended);
    if (this.#unparsed.length > 0) this.socket.unshift(Buffer.concat(this.#unparsed.splice(0)));
    this.#resume();
  }

  /** Asks the doorkeeper at the start of a request, and does what it says. */
  #mayBegin(bytes: Buffer): boolean {
    const { doorkeeper } = this.#surroundings;
    if (doorkeeper === undefined || this.#hasBegun || this.#request !== undefined) return true;
    const verdict = doorkeeper.judge(this, bytes);
    if (verdict.kind === 'parse') return true;
    if (verdict.kind === 'hold') this.#isHeldBack = true;
    else {
      this.#unparsed.shift();
      this.socket.write(verdict.answer, 'latin1');
    }
    return false;
  }

  /** True unless a request has arrived whole and its answer has not left, or none may be begun. */
  #isReady(): boolean {
    if (this.#isHeldBack) return false;
    if (this.#request === undefined) return !this.#surroundings.gate.isShut;
    if (!this.#request.complete) return true;
    if (this.#response !== undefined || this.#surroundings.gate.isShut) return false;
    this.#request = undefined;
    this.#cutter.endBody();
    return true;
  }

  #pause(): void {
    this.#isPaused = true;
    this.socket.pause();
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.socket.resume();
  }
}

/** Takes the listener away that the HTTP server has just put on its socket: the last one. */
function takeListener(socket: Socket, event: 'data' | 'end'): unknown {
  const listener = socket.listeners(event).at(-1);
  if (listener === undefined) throw new Error(`The HTTP server does not listen to '${event}' of its sockets`);
  socket.removeListener(event, listener as () => void);
  return listener;
}
