import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { time } from '../../concurrency/time.js';
import { MessageCutter } from './message-cutter.js';
import type { Turns } from './turns.js';

/** Time for which bytes of a client are read and discarded after the last response, in milliseconds. */
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
export interface RawRequestFilter {
  /** @param bytes the first bytes of the request */
  judge(connection: Connection, bytes: Buffer): Verdict;
}

/** The objects that all connections of a server share. */
export interface ConnectionSurroundings {
  /** While it is shut, no request is started. Call `advance` when it opens. */
  readonly gate: { readonly isShut: boolean };
  /** Default: all requests are parsed. */
  readonly rawFilter: RawRequestFilter | undefined;
  readonly turns: Turns;
}

/**
 * One connection of a client. Requests are served one after the other: the parser gets the bytes of the next request
 * after the response to the current one has been sent, and until then nothing more is read from the socket. A client
 * that sends many requests at once, or reads no responses, therefore costs the memory of one request, one response and
 * one read.
 */
export class Connection {
  readonly socket: Socket;
  readonly #parse: Parse;
  readonly #endInput: () => void;
  readonly #surroundings: ConnectionSurroundings;
  readonly #closed: () => void;
  readonly #cutter = new MessageCutter();
  /**
   * Monotonic time before which the client should send no request, in milliseconds. Set by a refusal; 0 if it may send
   * at any time.
   */
  returnAtMs = 0;
  /** Whether its request was held until the end of `Retry-After`. It is then refused unless there is a place. */
  isOverdue = false;
  #place: Place | undefined;
  /** Bytes that the parser has not received yet. */
  #unparsed: Buffer[] = [];
  /** Whether the parser has received a part of an incomplete head. */
  #hasBegun = false;
  /** Requests whose heads have been parsed. */
  #parsed = 0;
  /** Whether the filter holds the next request. */
  #isHeldBack = false;
  #request: IncomingMessage | undefined;
  #response: ServerResponse | undefined;
  #isPaused = false;
  #isAdvancing = false;
  /** Whether it waits for its turn. */
  #isQueued = false;
  /** Whether the client has closed its sending side. */
  #hasEnded = false;
  /** Whether further requests are ignored. */
  #isDeaf = false;
  #isLingering = false;
  /** Number of checks in a row of a response that was written but not sent. */
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
    // The kernel resets a connection that is closed with unread bytes, and the last response is lost.
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

  /** True while a complete request has arrived and its response has not been sent. */
  get isAnswering(): boolean {
    return this.#request?.complete === true && this.#response !== undefined;
  }

  /** True while a complete request has arrived and no part of its response has been sent. */
  get isAwaited(): boolean {
    return this.isAnswering && this.#response?.headersSent === false;
  }

  /** True if the client would take another response for the one in progress. */
  get isTaken(): boolean {
    return this.isAnswering || this.#response?.headersSent === true;
  }

  /**
   * Whether a request may be answered without the parser. Not the first one of a connection, because Node's parser
   * would wait for a request and then close the connection. Nor while the client reads no responses or has sent more
   * requests.
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

  /** True while a response is being sent, or bytes after its request are unparsed. */
  get isBusy(): boolean {
    return this.isAnswering || this.#unparsed.length > 0 || this.#isLingering;
  }

  /** True if further requests, or parts of them, have arrived after the current one. */
  get hasMore(): boolean {
    return this.#unparsed.length > 0;
  }

  /** Must be called when the head of a request has been parsed. */
  begin(request: IncomingMessage, response: ServerResponse): void {
    this.#request = request;
    this.#response = response;
    this.#looks = 0;
    this.#hasBegun = false;
    this.#parsed += 1;
    this.#cutter.startBody(request);
    response.once('finish', this.#answered);
  }

  /** Checks whether a written response has been sent. @returns number of checks in a row in which it was not */
  look(): number {
    this.#looks = this.#response?.writableEnded === true ? this.#looks + 1 : 0;
    return this.#looks;
  }

  /**
   * Sends these last bytes and ends the connection. Bytes that the client still sends are read and discarded for a
   * while: the kernel would reset a connection that is closed with unread bytes, and the client would not receive the
   * response.
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

  // Properties, so that a turn or a response creates no function.
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
    // One request of a connection per turn of the event loop, so that other connections get turns too.
    if (this.#unparsed.length > 0 || this.#hasEnded) time.setImmediate(this.#advanceOnce);
  };

  readonly #advanceOnce = (): void => {
    if (!this.#isQueued) this.#advanceInTurn();
  };

  /**
   * Parses a request that the filter has held.
   *
   * @param place reserved until `takePlace`; released if the request never takes it
   */
  letIn(place?: Place): void {
    this.#isHeldBack = false;
    this.#place = place;
    this.#advanceOnce();
  }

  /** Answers a request that the filter has held, without parsing it. */
  turnAway(answer: string): void {
    this.#isHeldBack = false;
    this.#unparsed.shift();
    if (this.socket.writable) this.socket.write(answer, 'latin1');
    if (this.#unparsed.length > 0 || this.#hasEnded) this.#advanceOnce();
  }

  /** The place that is reserved for the current request. */
  get place(): Place | undefined {
    return this.#place;
  }

  takePlace(): Place | undefined {
    const place = this.#place;
    this.#place = undefined;
    return place;
  }

  /** Passes on the bytes that the parser may receive. */
  advance(): void {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    try {
      this.#parseAll();
    } finally {
      this.#isAdvancing = false;
    }
    if (this.#isDeaf) return;
    // Only reading the socket detects that a client has disconnected while its request is held.
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

  /** Whether the connection uses another protocol: the HTTP server has removed its parser. */
  get #isUpgraded(): boolean {
    return Reflect.get(this.socket, 'parser') === null;
  }

  /** Passes the socket, with the bytes after the head, to the listeners of upgrades. */
  #handOver(): void {
    this.#isDeaf = true;
    this.socket.off('data', this.#arrived).off('end', this.#ended);
    if (this.#unparsed.length > 0) this.socket.unshift(Buffer.concat(this.#unparsed.splice(0)));
    this.#resume();
  }

  /** Applies the decision of the filter at the start of a request. @returns whether the request may be parsed */
  #mayBegin(bytes: Buffer): boolean {
    const { rawFilter } = this.#surroundings;
    if (rawFilter === undefined || this.#hasBegun || this.#request !== undefined) return true;
    const verdict = rawFilter.judge(this, bytes);
    if (verdict.kind === 'parse') return true;
    if (verdict.kind === 'hold') this.#isHeldBack = true;
    else {
      this.#unparsed.shift();
      this.socket.write(verdict.answer, 'latin1');
    }
    return false;
  }

  /** True if a request may be started: none is being answered, and the gate is open. */
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

/** Removes and returns the listener that the HTTP server has just added to its socket: the last one. */
function takeListener(socket: Socket, event: 'data' | 'end'): unknown {
  const listener = socket.listeners(event).at(-1);
  if (listener === undefined) throw new Error(`The HTTP server does not listen to '${event}' of its sockets`);
  socket.removeListener(event, listener as () => void);
  return listener;
}
