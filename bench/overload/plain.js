/**
 * The cost of the connection layer: one page of the framework and the same page of plain Fastify, in alternating
 * slices. `node overload/plain.js [--connections 64] [--slices 6] [--seconds 3] [--pause 5]`; BENCH_BEFORE adds an earlier
 * build. With `--pause`, a mean pause of each client in milliseconds, all servers get as many requests; without, the
 * faster side of a connection waits for the other, and the slower one pays for waking it up.
 */
import { fork } from 'node:child_process';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { WatchedServer } from './server.js';

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '64' },
    slices: { type: 'string', default: '6' },
    seconds: { type: 'string', default: '3' },
    pause: { type: 'string', default: '0' },
  },
});
const SERVER = fileURLToPath(new URL('./plain-server.js', import.meta.url));
const CLIENTS = fileURLToPath(new URL('./clients.js', import.meta.url));
const TARGETS = ['framework', ...(process.env.BENCH_BEFORE === undefined ? [] : ['before']), 'fastify'];

const servers = new Map();
for (const target of TARGETS) servers.set(target, await WatchedServer.start(SERVER, [target]));
/** @type {Map<string, Slice[]>} */
const slices = new Map(TARGETS.map((target) => [target, []]));
for (let slice = 0; slice < Number(values.slices); slice += 1)
  for (const target of slice % 2 === 0 ? TARGETS : TARGETS.toReversed())
    slices.get(target)?.push(await measure(servers.get(target)));
for (const server of servers.values()) await server.stop();
for (const [target, all] of slices) {
  const [perSecond, cpu] = ['perSecond', 'cpuMicroseconds'].map((name) =>
    median(all.map((each) => each[name])),
  );
  process.stdout.write(`${target}: ${Math.round(perSecond)} per second, ${cpu.toFixed(1)} us of CPU each\n`);
}
for (const target of TARGETS.slice(0, -1)) {
  const [ours = [], theirs = []] = [target, 'fastify'].map((each) => slices.get(each));
  const ratios = ours.map((each, at) => theirs[at].cpuMicroseconds / each.cpuMicroseconds);
  process.stdout.write(
    `CPU, Fastify / ${target}: ${median(ratios).toFixed(2)}; load ${loadavg()[0]?.toFixed(0)}\n`,
  );
}

/**
 * @typedef {{ perSecond: number, cpuMicroseconds: number }} Slice
 * @returns {Promise<Slice>}
 */
function measure(server) {
  return new Promise((resolve, reject) => {
    const child = fork(CLIENTS);
    let before = 0;
    let used = 0;
    child.on('message', (/** @type {any} */ message) => {
      if (message.measuring === true) before = server.cpuSeconds();
      else if (message.measuring === false) used = server.cpuSeconds() - before;
      else
        resolve({
          perSecond: message.goodput,
          cpuMicroseconds: (used * 1e6) / (message.goodput * message.seconds),
        });
    });
    child.once('exit', (code) => reject(new Error(`The process of clients ended (${code})`)));
    child.send({
      host: server.url.hostname,
      port: Number(server.url.port),
      connections: Number(values.connections),
      rampPerSecond: 1_000,
      waits: true,
      pauseMs: Number(values.pause),
      requests: [`GET /health/live HTTP/1.1\r\nHost: ${server.url.host}\r\n\r\n`],
      warmUpMs: 500,
      measureMs: Number(values.seconds) * 1_000,
    });
  });
}

function median(numbers) {
  return numbers.sort((left, right) => left - right)[Math.floor(numbers.length / 2)];
}
