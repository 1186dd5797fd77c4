import { lookup } from 'node:dns/promises';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { sleep, type Timer, time } from '../../concurrency/time.js';
import type { HttpLimits } from '../limits.js';
import { HttpProblem } from '../problem.js';
import { SecurityHeaders } from '../security-headers.js';
import { Connection, type Doorkeeper } from './connection.js';
import { MoreListeners } from './more-listeners.js';
import { rawAnswer } from './parser-error.js';
import { Silence } from './silence.js';
import { Turns } from './turns.js';

/** Number of checks of a client that takes no answers, before it is dropped. */
const LOOKS = 4;
/** A closing server looks so often whether anything is left to answer, in milliseconds. */
const LOOK_EVERY_MS = 25;
/** A connection on which nothing has arrived for so many of these looks has no request under way: a second. */
const SILENT_LOOKS = 40;
/** A turn of the event loop in which hardly anything happens, in milliseconds. */
const QUIET_TURN_MS = 0.5;
/**
 * If no client has connected for this time, all of them wait for answers, in milliseconds: a busy client needs some.
 */
const SETTLED_MS = 50;
/** A closing server waits no longer for its clients to settle, in milliseconds: meanwhile nothing new is begun. */
const SETTLE_WITHIN_MS = 1_000;
/** Maximum wait for a turn of the event loop without a new connection, in milliseconds. */
const LAST_TURNS_MS = 250;

/** From this number of connections on, more are accepted per turn. */
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
  /** Decides which requests are held back before they are parsed. Default: none. */
  doorkeeper: Doorkeeper | undefined;
  /** The work of requests and answers, bounded per turn of the event loop. */
  readonly turns: Turns = new Turns();
  /** Of every answer. */
  readonly headers: SecurityHeaders;
  /** Connections over TLS, from before their handshakes on. */
  readonly #transports = new Map<Socket, { isSecure: boolean }>();
  /** Connections so far. */
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
   * @param another makes a server that serves the same
   * @param isEncrypted whether it is a server of HTTPS. Default false
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
    // What HTTP sees of a connection over TLS begins behind its handshake.
    server.on(isEncrypted ? 'secureConnection' : 'connection', (socket: Socket) => {
      const transport = this.#transports.get(Reflect.get(socket, '_parent'));
      if (transport !== undefined) transport.isSecure = true;
      const surroundings = { gate: this.#gate, doorkeeper: this.doorkeeper, turns: this.turns };
      const connection = new Connection(socket, surroundings, () => this.#bySocket.delete(socket));
      this.#bySocket.set(socket, connection);
      // Not parsed: the refusal of a connection costs next to nothing.
      if (this.#bySocket.size > this.#most) connection.linger(rawAnswer(tooMany(), this.headers));
      if (this.#bySocket.size >= MANY_CONNECTIONS) this.#listenMore();
      this.#looking ??= time.setInterval(() => this.#look(), this.#lookEveryMs).unref();
    });
  }

  /** Connections count from here on. Before the handshake there is no way to answer one that is too many. */
  #shakeHands(socket: Socket): void {
    if (this.#transports.size >= this.#most) {
      socket.destroy();
      return;
    }
    this.#transports.set(socket, { isSecure: false });
    socket.once('close', () => this.#transports.delete(socket));
  }

  /** `localhost` has two addresses on most machines: listens on the others as well, where they are free. */
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
   * Stops listening, and resolves when all connections are closed. Connections without a request stay for a second
   * after that, because their next request may be on its way, and those on which a request or a handshake goes on
   * arriving stay for longer.
   *
   * @param graceMs after this time all connections are closed, whatever they wait for
   * @param deaf called when nothing listens any longer: from then on each answer must end its connection. Before,
   * its client would connect again
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
      const silence = new Silence();
      const sweep = (): void => {
        if (time.nowMs() - startMs >= graceMs) this.#closeAll();
        else this.#closeSilent(silence);
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
   * Waits until this process alone has its sockets: a helper that still has one keeps it open after the listeners have
   * closed, and its end resets the connections that the kernel takes until then.
   */
  async #settleListeners(): Promise<void> {
    for (const more of this.#more ?? []) more.stop();
    await Promise.all((this.#more ?? []).map(({ settled }) => settled));
  }

  /**
   * Accepts what has connected: connections that the kernel has taken and the process has not are reset when it stops
   * listening. Meanwhile no request is begun, so that clients that wait for an answer do not reconnect. The last turn
   * of the event loop has hardly anything to do, so that next to no time passes until nothing listens. It is looked for
   * also when the clients do not settle: just then many connect.
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

  /** Counts looks instead of time: what has arrived at a busy server has not been read yet. */
  #closeSilent(silence: Silence): void {
    const isSilent = (socket: Socket): boolean => silence.look(socket) >= SILENT_LOOKS;
    for (const { isBusy, socket } of this.#bySocket.values())
      if (!isBusy && isSilent(socket)) socket.destroy();
    for (const [socket, { isSecure }] of this.#transports) {
      // A handshake that has begun has a time limit of its own.
      if (!isSecure && socket.bytesRead === 0 && isSilent(socket)) socket.destroy();
    }
  }

  #closeAll(): void {
    for (const socket of [...this.#bySocket.keys(), ...this.#transports.keys()]) socket.destroy();
  }

  /** Counts looks instead of time: a server that was too busy to write does not blame its clients. */
  #look(): void {
    for (const connection of this.#bySocket.values()) {
      if (connection.look() > LOOKS) connection.socket.destroy();
    }
  }
}

/** Plugins listen to upgrades of the first server, and know no other. */
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

/** `close` of an HTTP server would also close connections whose next request is on its way. */
function stopListening(server: Server): void {
  if (server.listening) NetServer.prototype.close.call(server);
}
