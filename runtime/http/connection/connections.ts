import { lookup } from 'node:dns/promises';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { sleep, type Timer, time } from '../../concurrency/time.js';
import type { HttpLimits } from '../limits.js';
import { HttpProblem } from '../problem.js';
import { SecurityHeaders } from '../security-headers.js';
import { Connection, type RawRequestFilter } from './connection.js';
import { IdleSockets } from './idle-sockets.js';
import { MoreListeners } from './more-listeners.js';
import { rawAnswer } from './parser-error.js';
import { Turns } from './turns.js';

/** Number of checks after which a client that reads no responses is disconnected. */
const LOOKS = 4;
/** Interval at which a closing server checks for unanswered requests, in milliseconds. */
const LOOK_EVERY_MS = 25;
/** After this number of checks without new bytes (a second), a connection has no request in transit. */
const IDLE_CHECKS = 40;
/** Maximum duration of an idle turn of the event loop, in milliseconds. */
const QUIET_TURN_MS = 0.5;
/**
 * If no client has connected for this time, all clients are waiting for responses, in milliseconds. A busy client needs
 * some time to connect.
 */
const SETTLED_MS = 50;
/**
 * Maximum time for which a closing server waits for its clients to settle, in milliseconds. It starts no requests
 * meanwhile.
 */
const SETTLE_WITHIN_MS = 1_000;
/** Maximum wait for a turn of the event loop without a new connection, in milliseconds. */
const LAST_TURNS_MS = 250;

/** Number of connections from which on more are accepted per turn. */
const MANY_CONNECTIONS = 64;
/** Clients that the kernel connects before the process accepts them; the kernel has a limit of its own. */
export const BACKLOG = 4_096;

interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** All connections of a server. */
export class Connections {
  readonly #bySocket = new Map<Socket, Connection>();
  readonly #servers = new Set<Server>();
  readonly #lookEveryMs: number;
  readonly #most: number;
  readonly #gate = { isShut: false };
  /** Decides which requests are held before they are parsed. Default: none. */
  rawFilter: RawRequestFilter | undefined;
  /** The work of requests and responses, limited per turn of the event loop. */
  readonly turns: Turns = new Turns();
  /** Security headers of every response. */
  readonly headers: SecurityHeaders;
  /** Connections over TLS, including those before their handshake. */
  readonly #transports = new Map<Socket, { isSecure: boolean }>();
  /** Number of connections so far. */
  #accepted = 0;
  #another: (() => Server) | undefined;
  #more: readonly MoreListeners[] | undefined;
  #isClosing = false;
  #looking: Timer | undefined;

  constructor(
    { answerTimeoutMs, connections }: Pick<HttpLimits, 'answerTimeoutMs' | 'connections'>,
    headers: SecurityHeaders = new SecurityHeaders(),
  ) {
    this.headers = headers;
    this.#lookEveryMs = Math.max(1, answerTimeoutMs / LOOKS);
    this.#most = connections;
  }

  /**
   * Takes over all connections of an HTTP server that does not listen yet.
   *
   * @param another creates an equal server
   * @param isEncrypted whether it is an HTTPS server. Default false
   */
  takeOver(
    server: Server,
    another: () => Server,
    { isEncrypted = false }: { readonly isEncrypted?: boolean } = {},
  ): void {
    this.#servers.add(server);
    this.#another ??= another;
    server.on('connection', (socket: Socket) => {
      this.#accepted += 1;
      if (isEncrypted) this.#shakeHands(socket);
    });
    // For HTTP, a connection over TLS begins after its handshake.
    server.on(isEncrypted ? 'secureConnection' : 'connection', (socket: Socket) => {
      const transport = this.#transports.get(Reflect.get(socket, '_parent'));
      if (transport !== undefined) transport.isSecure = true;
      const surroundings = { gate: this.#gate, rawFilter: this.rawFilter, turns: this.turns };
      const connection = new Connection(socket, surroundings, () => this.#bySocket.delete(socket));
      this.#bySocket.set(socket, connection);
      // The request is not parsed, so the refusal of a connection costs almost nothing.
      if (this.#bySocket.size > this.#most) connection.linger(rawAnswer(tooMany(), this.headers));
      if (this.#bySocket.size >= MANY_CONNECTIONS) this.#listenMore();
      this.#looking ??= time.setInterval(() => this.#look(), this.#lookEveryMs).unref();
    });
  }

  /** Connections count from here on. Before the handshake, a connection above the limit cannot be answered. */
  #shakeHands(socket: Socket): void {
    if (this.#transports.size >= this.#most) {
      socket.destroy();
      return;
    }
    this.#transports.set(socket, { isSecure: false });
    socket.once('close', () => this.#transports.delete(socket));
  }

  /** Also listens on the other addresses of `localhost`, if they are free. Most machines have two. */
  async listenBeside(server: Server, { host, port }: ListenAddress): Promise<void> {
    const listening = server.address();
    const another = this.#another;
    if (host !== 'localhost' || another === undefined || listening === null) return;
    for (const { address } of await lookup(host, { all: true })) {
      if (typeof listening !== 'string' && address !== listening.address)
        await listenIfFree(withUpgrades(another(), server), { host: address, port });
    }
  }

  #listenMore(): void {
    const another = this.#another;
    if (this.#more !== undefined || this.#isClosing || another === undefined) return;
    const listening = [...this.#servers].filter((server) => server.listening);
    this.#more = listening.map(
      (server) =>
        new MoreListeners(server, { another: () => withUpgrades(another(), server), backlog: BACKLOG }),
    );
  }

  /** Notifies the connection that the head of a request has been parsed. */
  begin(request: IncomingMessage, response: ServerResponse): void {
    this.#bySocket.get(request.socket)?.begin(request, response);
  }

  /** The connection of a socket; `undefined` once it is closed. */
  of(socket: Socket | null): Connection | undefined {
    return socket === null ? undefined : this.#bySocket.get(socket);
  }

  /**
   * Stops listening, and resolves when all connections are closed. Connections without a request stay open for a second
   * after that, because their next request may be in transit. Those on which a request or a handshake is still arriving
   * stay open for longer.
   *
   * @param graceMs time after which all remaining connections are closed
   * @param deaf called after the server has stopped listening: from then on each response must end its connection.
   * Earlier, its client would reconnect
   */
  async drain(graceMs: number, deaf: () => void): Promise<void> {
    const startMs = time.nowMs();
    this.#isClosing = true;
    await this.#settleListeners();
    await this.#acceptAll(graceMs);
    for (const server of this.#servers) stopListening(server);
    deaf();
    this.#openGate();
    await new Promise<void>((resolve) => {
      const idle = new IdleSockets();
      const sweep = (): void => {
        if (time.nowMs() - startMs >= graceMs) this.#closeAll();
        else this.#closeIdle(idle);
        if (this.#bySocket.size > 0 || this.#transports.size > 0) return;
        time.clearInterval(timer);
        time.clearInterval(this.#looking);
        resolve();
      };
      const timer = time.setInterval(sweep, LOOK_EVERY_MS);
      sweep();
    });
  }

  /**
   * Waits until only this process has its sockets. A helper that still has one keeps it open after the listeners have
   * closed, and its end resets the connections that the kernel has accepted until then.
   */
  async #settleListeners(): Promise<void> {
    for (const more of this.#more ?? []) more.stop();
    await Promise.all((this.#more ?? []).map(({ settled }) => settled));
  }

  /**
   * Accepts the pending connections: those that the kernel has accepted and the process has not are reset when the
   * process stops listening. No request is started meanwhile, so clients that wait for a response do not reconnect.
   * Waits for an idle turn of the event loop, so that almost no time passes before listening stops. Waits for it even
   * if the clients do not settle, because then many connect.
   */
  async #acceptAll(graceMs: number): Promise<void> {
    this.#gate.isShut = true;
    const settleUntil = time.nowMs() + Math.min(SETTLE_WITHIN_MS, graceMs / 2);
    for (let isSettled = false; !isSettled && time.nowMs() < settleUntil; ) {
      const before = this.#accepted;
      await sleep(SETTLED_MS);
      isSettled = this.#accepted === before && ![...this.#bySocket.values()].some((each) => each.isAwaited);
    }
    const lastTurnUntil = time.nowMs() + Math.min(LAST_TURNS_MS, graceMs / 4);
    for (let isQuiet = false; !isQuiet && time.nowMs() < lastTurnUntil; ) {
      const [startMs, before] = [time.nowMs(), this.#accepted];
      await new Promise<void>((resolve) => time.setImmediate(resolve));
      isQuiet = this.#accepted === before && time.nowMs() - startMs < QUIET_TURN_MS;
    }
  }

  #openGate(): void {
    this.#gate.isShut = false;
    for (const connection of this.#bySocket.values()) connection.advance();
  }

  /** Counts checks instead of time: a busy server may not have read the bytes that have arrived. */
  #closeIdle(idle: IdleSockets): void {
    const isIdle = (socket: Socket): boolean => idle.look(socket) >= IDLE_CHECKS;
    for (const { isBusy, socket } of this.#bySocket.values()) if (!isBusy && isIdle(socket)) socket.destroy();
    for (const [socket, { isSecure }] of this.#transports) {
      // A handshake in progress has its own time limit.
      if (!isSecure && socket.bytesRead === 0 && isIdle(socket)) socket.destroy();
    }
  }

  #closeAll(): void {
    for (const socket of [...this.#bySocket.keys(), ...this.#transports.keys()]) socket.destroy();
  }

  /** Counts checks instead of time: the server itself may have been too busy to write. */
  #look(): void {
    for (const connection of this.#bySocket.values()) {
      if (connection.look() > LOOKS) connection.socket.destroy();
    }
  }
}

/** Plugins listen to upgrades of the first server only. */
function withUpgrades(server: Server, first: Server): Server {
  for (const listener of first.listeners('upgrade')) server.on('upgrade', listener as () => void);
  return server;
}

function tooMany(): HttpProblem {
  const headers = { 'retry-after': '1' };
  return new HttpProblem('HTTP_BUSY', 'The server has reached its maximum number of connections', {
    headers,
  });
}

function listenIfFree(server: Server, address: ListenAddress): Promise<void> {
  return new Promise((resolve) => {
    server.once('error', () => resolve()).listen({ ...address, backlog: BACKLOG }, resolve);
  });
}

/** `close` of an HTTP server would also close connections whose next request is in transit. */
function stopListening(server: Server): void {
  if (server.listening) NetServer.prototype.close.call(server);
}
