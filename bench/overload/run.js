/**
 * Measures servers beyond their capacity: `node overload/run.js --help`. Each measurement has its own server process,
 * database and client process.
 */
import { fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createDatabase, dropDatabase, readTotals } from '../lib/database.js';
import { machineCpuSeconds } from '../lib/proc.js';
import { builtFile } from '../lib/product.js';
import { openServer } from '../lib/server.js';
import { walletIds } from '../lib/wallets.js';
import { WatchedServer } from './server.js';

const USAGE = `node overload/run.js [options]
  --connections 64,512,2000,4000,6000
  --targets framework,fastify,under-pressure   also before: the build of the folder BENCH_BEFORE
  --clients waiting,hammering   whether refused clients wait for Retry-After
  --slow 0                      clients that send byte by byte or stop midway, besides; 0,500 compares
  --peak 512                    rows of more connections measure in turns how much so many of the clients get alone
  --seconds 10                  measured, after the connections are open and 12 s of warm-up
  --ramp 1000                   connections opened per second
  --out results/overload.json`;

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '64,512,2000,4000,6000' },
    targets: { type: 'string', default: 'framework,fastify,under-pressure' },
    clients: { type: 'string', default: 'waiting,hammering' },
    slow: { type: 'string', default: '0' },
    peak: { type: 'string', default: '512' },
    seconds: { type: 'string', default: '10' },
    ramp: { type: 'string', default: '1000' },
    out: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const FASTIFY = fileURLToPath(new URL('../http/fastify-server.js', import.meta.url));
const CLIENTS = fileURLToPath(new URL('./clients.js', import.meta.url));
const SLOW_CLIENTS = fileURLToPath(new URL('./slow-clients.js', import.meta.url));
/** Folders of the builds that are not the one under test. */
const BUILDS = { before: process.env.BENCH_BEFORE };
/** The servers of the other frameworks get the same as that of `npm start`. */
const NODE_FLAGS = nodeFlags(new URL('../../package.json', import.meta.url));
/** Refused clients come back after up to 15 seconds: before, they have not all taken their turns. */
const WARM_UP_MS = 12_000;
const PREHEAT_MS = 3_000;

if (values.help) {
  process.stdout.write(`${USAGE}\n`);
} else {
  const rows = await measureAll();
  process.stdout.write(`${table(rows)}\n`);
  if (values.out !== undefined) writeFileSync(values.out, `${JSON.stringify(rows, undefined, 2)}\n`);
}

async function measureAll() {
  const server = await openServer();
  const cases = product(
    values.clients.split(','),
    numbers(values.connections),
    numbers(values.slow),
    values.targets.split(','),
  ).map(([clients, connections, slow, target]) => ({ target, clients, connections, slow }));
  const rows = [];
  try {
    for (const each of cases) {
      const row = await measure(server, each);
      process.stderr.write(`${table([row]).split('\n')[2]}\n`);
      rows.push(row);
    }
  } finally {
    await server.close();
  }
  return rows;
}

function isOurs(target) {
  return target === 'framework' || target === 'before';
}

function numbers(text) {
  return text.split(',').map(Number);
}

function product(...lists) {
  return lists.reduce((rows, list) => rows.flatMap((row) => list.map((each) => [...row, each])), [[]]);
}

async function measure(server, { target, clients, connections, slow }) {
  const folder = mkdtempSync(join(tmpdir(), 'fw-overload-'));
  const database = `b_overload_${target.replaceAll(/[^a-z]/g, '_')}`;
  const schema = isOurs(target) ? 'framework' : 'peer';
  const connection = await createDatabase(server, database, schema, BUILDS[target]);
  const service = await startService(target, connection, folder);
  try {
    const base = { host: service.url.hostname, port: Number(service.url.port), rampPerSecond: 500 };
    const requests = walletIds.slice(0, 8_000).map((id) => deposit(id, service.url.host));
    // Before the measurement, code is compiled and connections to the database are open.
    const preheat = await load({
      ...base,
      requests,
      connections: 32,
      waits: true,
      warmUpMs: 0,
      measureMs: PREHEAT_MS,
    });
    const slowClients =
      slow === 0 ? undefined : await startSlowClients({ ...base, count: slow, request: requests[0] });
    const logBefore = service.logBytes;
    const result = await load(
      {
        ...base,
        requests,
        connections,
        rampPerSecond: Number(values.ramp),
        waits: clients === 'waiting',
        peak: connections > Number(values.peak) ? Number(values.peak) : undefined,
        warmUpMs: WARM_UP_MS,
        measureMs: Number(values.seconds) * 1_000,
      },
      { service, server },
    );
    slowClients?.kill('SIGKILL');
    const totals = await readTotals(connection, schema);
    const acknowledged = preheat.acknowledged + result.acknowledged;
    return {
      target,
      clients,
      connections,
      slow,
      loadAverage: loadavg()[0],
      ...result,
      // Deposits that were applied without an acknowledgement.
      silentlyApplied: totals.events - acknowledged,
      memory: service.peakMemory(),
      logBytes: service.logBytes - logBefore,
      logTail: service.logTail,
    };
  } finally {
    await service.stop();
    await dropDatabase(server, database);
    rmSync(folder, { recursive: true, force: true });
  }
}

function startService(target, connection, folder) {
  if (!isOurs(target)) {
    const options = { connection, withAction: true, underPressure: target === 'under-pressure' };
    return WatchedServer.start(FASTIFY, [JSON.stringify(options)], NODE_FLAGS);
  }
  const file = join(folder, 'fw.config.yaml');
  writeFileSync(file, configuration(connection));
  const build = BUILDS[target];
  const main = fileURLToPath(builtFile('examples/wallet/main.js', build));
  const flags = build === undefined ? NODE_FLAGS : nodeFlags(join(build, 'package.json'));
  return WatchedServer.start(main, ['--config', file, '--port', '0', '--host', '127.0.0.1'], flags);
}

/** Those of `npm start`. */
function nodeFlags(packageFile) {
  const [, ...rest] = JSON.parse(readFileSync(packageFile, 'utf8')).scripts.start.split(' ');
  return rest.filter((each) => each.startsWith('--'));
}

/** A configuration with one shard and defaults for everything else. */
function configuration({ host, port, user, password, database }) {
  return `
fw:
  namespace: bench
  sharding:
    default-shard: { group: 0, member: 0 }
    groups:
      - group: 0
        name: global
        members:
          - member: 0
            name: global-1
            configs:
              primary-config:
                jdbc-url: jdbc:postgresql://${host}:${port}/${database}
                username: ${user}
                password: ${JSON.stringify(password)}
                maximum-pool-size: 16
`;
}

function deposit(id, host) {
  const body = '{"amount":"1","recipient":"bench"}';
  return (
    `POST /wallets/${id}/deposit HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${body.length}\r\n\r\n${body}`
  );
}

function startSlowClients(options) {
  const child = fork(SLOW_CLIENTS);
  child.send(options);
  return new Promise((resolve) => child.once('message', () => resolve(child)));
}

/**
 * Runs the clients in their own process.
 *
 * @param {object} options
 * @param {{ service?: any, server?: any }} [watched] whose CPU is measured
 */
function load(options, { service, server } = {}) {
  return new Promise((resolve, reject) => {
    const child = fork(CLIENTS);
    const cpuSeconds = () =>
      [service, server].map((each) => each?.cpuSeconds() ?? 0).concat(machineCpuSeconds());
    let before = [];
    let used = [0, 0, 0];
    let result;
    child.on('message', (/** @type {any} */ message) => {
      if (message.measuring === true) before = cpuSeconds();
      else if (message.measuring === false) {
        const now = cpuSeconds();
        used = used.map((seconds, at) => seconds + now[at] - before[at]);
      } else result = message;
    });
    child.once('exit', (code) => {
      if (result === undefined) reject(new Error(`The process of clients ended (${code})`));
      const [serviceCpuSeconds, databaseCpuSeconds, all] = used;
      const othersCpuSeconds = all - serviceCpuSeconds - databaseCpuSeconds - result.cpuSeconds;
      resolve({ ...result, serviceCpuSeconds, databaseCpuSeconds, othersCpuSeconds });
    });
    child.send(options);
  });
}

function table(rows) {
  const head = [
    'server',
    'clients',
    'connections',
    'slow',
    'goodput/s',
    `at ${values.peak} meanwhile`,
    'share',
    'served p50 / p99 ms',
    'refused/s',
    'refused p50 / p99 ms',
    'early/s',
    'early p50 / p99 ms',
    'unknown',
    'of them applied',
    'others',
    'MiB',
    'log bytes',
    'CPU server / clients / database / others',
    'goodput per CPU s',
    "clients' lag ms",
    'load',
  ];
  const lines = rows.map((row) => [
    row.target,
    row.clients,
    row.connections,
    row.slow,
    Math.round(row.goodput),
    row.peakGoodput === undefined ? '-' : Math.round(row.peakGoodput),
    row.peakGoodput === undefined ? '-' : `${Math.round((100 * row.goodput) / row.peakGoodput)} %`,
    `${ms(row.served.p50)} / ${ms(row.served.p99)}`,
    Math.round(row.refused.count / row.seconds),
    `${ms(row.refused.p50)} / ${ms(row.refused.p99)}`,
    Math.round(row.early.count / row.seconds),
    `${ms(row.early.p50)} / ${ms(row.early.p99)}`,
    row.unknownInAll,
    row.slow > 0 ? '-' : row.silentlyApplied,
    others(row),
    Math.round(row.memory),
    row.logBytes,
    [row.serviceCpuSeconds, row.cpuSeconds, row.databaseCpuSeconds, row.othersCpuSeconds]
      .map((seconds) => share(seconds, row))
      .join(' / '),
    Math.round((row.goodput * row.seconds) / row.serviceCpuSeconds),
    ms(row.lagMs),
    ms(row.loadAverage),
  ]);
  return [head, head.map(() => '---:'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Answers that are neither a success nor a refusal, and broken connections. */
function others({ statuses, broken }) {
  const odd = Object.entries(statuses).filter(([status]) => status !== '200' && status !== '503');
  return (
    [
      ...odd.map(([status, count]) => `${count} x ${status}`),
      ...(broken > 0 ? [`${broken} broken`] : []),
    ].join(', ') || '-'
  );
}

function share(cpuSeconds, { seconds }) {
  return `${Math.round((cpuSeconds / seconds) * 100)} %`;
}

function ms(value) {
  return value === undefined || value === null ? '-' : value.toFixed(value < 10 ? 1 : 0);
}
