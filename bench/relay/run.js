/** Rate and latency of `fw-gen relay`: `node relay/run.js --help`. */
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { createDatabase, dropDatabase, withClient } from '../lib/database.js';
import { fillEvents } from '../lib/events.js';
import { withBuild } from '../lib/product.js';
import { decimals, markdown, progress, whole } from '../lib/report.js';
import { openServer } from '../lib/server.js';
import { median, quantile } from '../lib/statistics.js';
import { ID_PREFIX, walletIds } from '../lib/wallets.js';
import { receivers } from './receivers.js';

const USAGE = `node relay/run.js [options]
  --kafka host:port     a broker that runs, with topics made on demand; left out without it
  --nats host:port      a server that runs, with JetStream; left out without it
  --only kafka,nats,webhook
  --targets framework   also before: the build of the folder BENCH_BEFORE
  --events 100000       backlog of each rate
  --latencies 400       events written one by one, 40 per second; 0: no latencies
  --rounds 1            medians are reported
  --profile <folder>    CPU profiles of the relays`;

const { values } = parseArgs({
  options: {
    kafka: { type: 'string' },
    nats: { type: 'string' },
    only: { type: 'string', default: 'kafka,nats,webhook' },
    targets: { type: 'string', default: 'framework' },
    events: { type: 'string', default: '100000' },
    latencies: { type: 'string', default: '400' },
    rounds: { type: 'string', default: '1' },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const DATABASE = 'b_relay';
const MAIN = fileURLToPath(new URL('./relay-main.js', import.meta.url));
const PROFILING = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`];
const LONGEST_PAUSE_MS = 50;
const SETTLING_MS = 3_000;

const HEADING = [
  'receiver',
  'format',
  'relay',
  'events/s',
  'relay CPU ms / 1,000 events',
  'PostgreSQL CPU ms / 1,000 events',
  'p50 ms',
  'p95 ms',
  'p99 ms',
  'load',
];

const INSERT = `insert into eventlog.events (id, action_id, namespace, model_id, model_name, event_type, payload, created_date,
  model_version) values ($1::uuid, $1::uuid, 'bench', $2, 'Wallet', 'WalletCreatedEvent', '{"ownerId": "1"}', now(), 1)`;

if (values.help) process.stdout.write(`${USAGE}\n`);
else process.stdout.write(`${markdown(await measureAll())}\n`);

async function measureAll() {
  const server = await openServer();
  const folder = mkdtempSync(join(tmpdir(), 'fw-bench-relay-'));
  try {
    const connection = await createDatabase(server, DATABASE, 'framework');
    await withClient(connection, (client) => fillEvents(client, Number(values.events)));
    const rows = [];
    const warm = new Set();
    for (const [receiver, format] of chosen()) {
      // A broker that was just started first compiles its code.
      if (!warm.has(receiver))
        await measureRate({ server, connection, folder, receiver, format, target: 'framework' });
      warm.add(receiver);
      for (const target of values.targets.split(',')) {
        const rounds = [];
        for (let round = 0; round < Number(values.rounds); round += 1) {
          rounds.push(await measure({ server, connection, folder, receiver, format, target }));
          progress(`${receiver} ${format} ${target}: ${JSON.stringify(rounds.at(-1))}`);
        }
        rows.push([receiver, format, target, ...cells(rounds)]);
      }
    }
    return { heading: HEADING, rows };
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await dropDatabase(server, DATABASE);
    await server.close();
  }
}

function cells(rounds) {
  const of = (key) => median(rounds.map((round) => round[key] ?? Number.NaN));
  return [
    whole(of('perSecond')),
    decimals(of('cpuMsPerThousand')),
    decimals(of('serverCpuMsPerThousand')),
    ...['p50Ms', 'p95Ms', 'p99Ms'].map((key) => decimals(of(key))),
    whole(of('load')),
  ];
}

function chosen() {
  return values.only.split(',').flatMap((receiver) => {
    if (receiver !== 'webhook' && values[receiver] === undefined) {
      progress(`${receiver} is left out: --${receiver} host:port names one that runs`);
      return [];
    }
    return receivers[receiver].formats.map((format) => [receiver, format]);
  });
}

async function measure(slice) {
  const load = loadavg()[0];
  const rate = await measureRate(slice);
  if (Number(values.latencies) === 0) return { ...rate, load };
  const latencies = await withPlace(await open({ ...slice, startFrom: 'now' }), ({ start, follow }) =>
    measureLatencies(slice.connection, start, follow),
  );
  return { ...rate, ...latencies, load };
}

async function measureRate(slice) {
  const { server, receiver } = slice;
  const events = Math.min(Number(values.events), receivers[receiver].mostEvents ?? Number.POSITIVE_INFINITY);
  return withPlace(await open({ ...slice, startFrom: 'beginning' }), async ({ start }) => {
    const before = server.cpuSeconds();
    const relay = start(events);
    const [measured] = await Promise.race([once(relay, 'message'), died(relay)]);
    const serverSeconds = server.cpuSeconds() - before;
    await stop(relay);
    return { ...measured, serverCpuMsPerThousand: (serverSeconds * 1_000_000) / events };
  });
}

async function withPlace(place, work) {
  try {
    return await work(place);
  } finally {
    await place.close();
  }
}

/** Opens a target at the receiver. Returns it with a function that starts a relay to it. */
async function open({ connection, folder, receiver, format, target, startFrom }) {
  const build = target === 'before' ? process.env.BENCH_BEFORE : undefined;
  const name = randomUUID();
  const place = await receivers[receiver].open({ address: values[receiver], name });
  const { host, port, database, user, password } = connection;
  const primaryConfig = {
    jdbcUrl: `jdbc:postgresql://${host}:${port}/${database}`,
    username: user,
    password,
  };
  const members = [{ member: 0, name: 'shard-0', configs: { primaryConfig } }];
  const fw = {
    namespace: 'bench',
    sharding: { defaultShard: { group: 0, member: 0 }, groups: [{ group: 0, name: 'group-0', members }] },
    relay: { sinks: [{ name, format, startFrom, ...place.sink }] },
  };
  const config = join(folder, `${name}.yaml`);
  writeFileSync(config, JSON.stringify({ fw }));
  const start = (events) =>
    fork(MAIN, [JSON.stringify({ config, events })], { env: withBuild(build), execArgv: PROFILING });
  return { ...place, start };
}

/** From the return of COMMIT to the arrival at a client of the receiver. */
async function measureLatencies(connection, start, follow) {
  const arrived = new Map();
  const unfollow = await follow((id) => arrived.set(id, performance.now()));
  const relay = start(0);
  const client = new pg.Client(connection);
  await client.connect();
  try {
    const committed = new Map();
    const write = async () => {
      const id = ID_PREFIX + randomUUID().slice(-12);
      const model = walletIds[committed.size % walletIds.length];
      await client.query(INSERT, [id, model]);
      return [id, performance.now()];
    };
    // Events that are written before the relay holds its lease and topics are created do not count.
    await sleep(SETTLING_MS);
    const [first] = await write();
    for (let waited = 0; !arrived.has(first) && waited < 30_000; waited += 50) await sleep(50);
    for (let count = 0; count < Number(values.latencies); count += 1) {
      const [id, atMs] = await write();
      committed.set(id, atMs);
      await sleep(Math.random() * LONGEST_PAUSE_MS);
    }
    const missing = () => [...committed.keys()].filter((id) => !arrived.has(id)).length;
    for (let waited = 0; missing() > 0 && waited < 30_000; waited += 50) await sleep(50);
    if (missing() > 0) throw new Error(`${missing()} events have not arrived`);
    const times = [...committed].map(([id, atMs]) => arrived.get(id) - atMs);
    return { p50Ms: quantile(times, 0.5), p95Ms: quantile(times, 0.95), p99Ms: quantile(times, 0.99) };
  } finally {
    await client.end();
    await stop(relay);
    await unfollow();
  }
}

function once(emitter, name) {
  return new Promise((resolve) => emitter.once(name, (...args) => resolve(args)));
}

async function died(relay) {
  const [code] = await once(relay, 'exit');
  throw new Error(`The relay ended with ${code}`);
}

async function stop(relay) {
  if (relay.exitCode !== null) return;
  const gone = once(relay, 'exit');
  relay.disconnect();
  await gone;
}
