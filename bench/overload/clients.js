/**
 * The load generator of the overload table: many keep-alive connections in one process, one request at a time on each,
 * on plain sockets. It shares the machine with the server, so it does as little as possible, and reports its own CPU
 * time and event-loop lag: the latencies are no more precise than that.
 */
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Time after which a client gives up on an answer, in milliseconds. */
const PATIENCE_MS = 10_000;
/** Interval at which further connections are opened, in milliseconds. */
const RAMP_STEP_MS = 10;
/** After a change of how many clients ask, nothing is measured for this time, in milliseconds. */
const SETTLE_MS = 3_000;
/** Clients that join in begin within this time, in milliseconds. */
const JOIN_MS = 1_000;
const END = Buffer.from('\r\n\r\n');

process.once('message', (/** @type {any} */ load) => {
  run(load).then((result) => send(result, () => process.exit(0)));
});

/**
 * @param {object} message
 * @param {() => void} [sent] called when the message was sent
 */
function send(message, sent = () => {}) {
  process.send?.(message, undefined, undefined, sent);
}

/**
 * @param {object} load
 * @param {number} load.connections how many
 * @param {number} load.rampPerSecond connections opened per second
 * @param {number} [load.pauseMs] mean pause of a client between an answer and its next request. Default: none
 * @param {boolean} load.waits whether a refused client waits for `Retry-After` before it asks again
 * @param {string[]} load.requests texts of requests, which the clients send in turns: the same ones in every row,
 *   however many clients there are
 * @param {number} [load.peak] so many of the clients ask alone in every second slice. Default: there is one slice, in
 *   which all ask
 * @param {number} load.warmUpMs
 * @param {number} load.measureMs of all slices in which all clients ask; the others take as long again
 */
async function run(load) {
  const requests = load.requests.map((text) => Buffer.from(text));
  const world = {
    load,
    requests,
    sent: 0,
    window: newWindow(),
    total: newWindow(),
    ending: false,
    asking: Infinity,
  };
  const clients = [];
  const perStep = Math.max(1, Math.round((load.rampPerSecond * RAMP_STEP_MS) / 1_000));
  while (clients.length < load.connections) {
    for (let step = 0; step < perStep && clients.length < load.connections; step += 1)
      clients.push(new Client(world, clients.length));
    await delay(RAMP_STEP_MS);
  }
  await delay(load.warmUpMs);
  const crowd = { window: newWindow(), seconds: 0 };
  const few = { window: newWindow(), seconds: 0 };
  const slices = slicesOf(load);
  const lag = watchLag();
  let cpuSeconds = 0;
  for (const asking of slices) {
    if (slices.length > 1) {
      world.asking = asking;
      for (const client of clients) client.join();
      await delay(SETTLE_MS);
    }
    const isCrowd = asking === load.connections;
    const measured = isCrowd ? crowd : few;
    const cpu = process.cpuUsage();
    const start = performance.now();
    world.window = measured.window;
    if (isCrowd) send({ measuring: true });
    await delay((load.measureMs / slices.length) * (slices.length > 1 ? 2 : 1));
    world.window = newWindow();
    measured.seconds += (performance.now() - start) / 1_000;
    const { user, system } = process.cpuUsage(cpu);
    if (isCrowd) cpuSeconds += (user + system) / 1e6;
    if (isCrowd) send({ measuring: false });
  }
  const { window, seconds } = crowd;
  world.ending = true;
  // Requests in flight may finish, so that acknowledged and stored deposits can be compared.
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (clients.some((client) => client.isWaiting) && performance.now() < giveUpAt) await delay(20);
  for (const client of clients) client.end();
  const { total } = world;
  return {
    seconds,
    goodput: window.served.length / seconds,
    peakGoodput: few.seconds > 0 ? few.window.served.length / few.seconds : undefined,
    served: summary(window.served),
    refused: summary(window.refused),
    early: summary(window.early),
    statuses: window.statuses,
    unknown: window.unknown,
    broken: window.broken,
    acknowledged: total.served.length,
    unknownInAll: total.unknown,
    cpuSeconds,
    lagMs: lag(),
  };
}

/**
 * How many clients ask in each slice. All and the few take turns in one process, in the order of a, b, b, a: what is
 * measured minutes apart, or in another process, differs by more than they do.
 *
 * @param {{ connections: number, peak?: number }} load
 */
function slicesOf({ connections, peak }) {
  if (peak === undefined) return [connections];
  const pair = [connections, peak];
  return [...pair, ...pair.toReversed(), ...pair, ...pair.toReversed()];
}

function newWindow() {
  // early: refusals of requests that were sent before the client's `Retry-After` was over. unknown: 504, or no answer
  // to a sent request. broken: a connection that was refused, or closed between two requests.
  return { served: [], refused: [], early: [], statuses: {}, unknown: 0, broken: 0 };
}

/** One customer: sends a request, waits for the answer, sends the next one. */
class Client {
  #world;
  #number;
  #socket;
  #sentAt = 0;
  /** Time at which the `Retry-After` of the last refusal is over. */
  #returnAt = 0;
  #timer;
  #pieces = [];
  isWaiting = false;
  /** It has sent nothing since it was its turn, because too few clients were to ask. */
  #isIdle = false;

  constructor(world, number) {
    this.#world = world;
    this.#number = number;
    this.#open();
  }

  /** Asks again if it has stopped; one of the few, also before its `Retry-After` is over. */
  join() {
    const { asking, load } = this.#world;
    const isAmongFew = asking < load.connections && this.#number < asking && !this.isWaiting;
    if (!isAmongFew && !(this.#isIdle && this.#number < asking)) return;
    if (this.#socket?.connecting) return;
    clearTimeout(this.#timer);
    this.#isIdle = false;
    this.#timer = setTimeout(() => this.#next(), Math.random() * JOIN_MS);
  }

  end() {
    clearTimeout(this.#timer);
    this.#socket?.destroy();
  }

  #open() {
    const { host, port } = this.#world.load;
    const socket = connect({ host, port, noDelay: true });
    this.#socket = socket;
    this.#pieces = [];
    socket.once('connect', () => this.#send());
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('error', () => {});
    socket.once('close', () => this.#closed(socket));
  }

  /** Sends the next request if it is its turn. */
  #next() {
    if (this.#world.ending) return;
    if (this.#number >= this.#world.asking) this.#isIdle = true;
    else if (this.#socket === undefined) this.#open();
    else if (!this.#socket.destroyed) this.#send();
  }

  #send() {
    if (this.#world.ending) return;
    this.isWaiting = true;
    this.#sentAt = performance.now();
    const { requests } = this.#world;
    this.#socket.write(requests[this.#world.sent++ % requests.length]);
    this.#timer = setTimeout(() => this.#socket.destroy(), PATIENCE_MS);
  }

  #closed(socket) {
    if (socket !== this.#socket) return;
    clearTimeout(this.#timer);
    if (this.isWaiting) this.#count('unknown');
    else this.#count('broken');
    this.isWaiting = false;
    if (!this.#world.ending) setTimeout(() => this.#world.ending || this.#open(), 100 + Math.random() * 100);
  }

  #count(what) {
    this.#world.window[what] += 1;
    this.#world.total[what] += 1;
  }

  #receive(chunk) {
    this.#pieces.push(chunk);
    const answer = this.#pieces.length === 1 ? chunk : Buffer.concat(this.#pieces);
    const end = answer.indexOf(END);
    if (end < 0) return;
    const head = answer.latin1Slice(0, end);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length !== undefined && answer.length < end + 4 + Number(length)) return;
    this.#pieces = [];
    clearTimeout(this.#timer);
    this.isWaiting = false;
    this.#answered(head);
  }

  #answered(head) {
    const elapsedMs = performance.now() - this.#sentAt;
    const status = Number(head.slice(9, 12));
    const isEarly = this.#sentAt < this.#returnAt;
    for (const { served, refused, early, statuses } of [this.#world.window, this.#world.total]) {
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status === 200) served.push(elapsedMs);
      if (status === 503) (isEarly ? early : refused).push(elapsedMs);
    }
    if (status === 503) this.#returnAt = performance.now() + retryAfterMs(head);
    if (status === 504) this.#count('unknown');
    const closes = /\r\nconnection: close/i.test(head);
    if (closes) {
      const socket = this.#socket;
      this.#socket = undefined;
      socket.destroy();
    }
    // Up to a tenth more, because clients' clocks differ.
    const waitMs =
      status === 503 && this.#world.load.waits
        ? retryAfterMs(head) * (1 + Math.random() / 10)
        : (this.#world.load.pauseMs ?? 0) * Math.random() * 2;
    if (waitMs === 0) this.#next();
    else this.#timer = setTimeout(() => this.#next(), waitMs);
  }
}

function retryAfterMs(head) {
  return Number(/\r\nretry-after: *(\d+)/i.exec(head)?.[1] ?? 1) * 1_000;
}

function summary(latencies) {
  const sorted = latencies.sort((left, right) => left - right);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: sorted.at(-1) };
}

/** @returns the 99th percentile of how late a timer of 5 ms is, in milliseconds */
function watchLag() {
  const late = [];
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    late.push(Math.max(0, now - last - 5));
    last = now;
  }, 5);
  return () => {
    clearInterval(timer);
    return summary(late).p99;
  };
}
