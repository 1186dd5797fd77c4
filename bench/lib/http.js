import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDatabase, dropDatabase, findMismatch, readTotals } from './database.js';
import { builtFile } from './product.js';
import { progress } from './report.js';
import { rotate } from './rotation.js';
import { ServerProcess } from './server-process.js';
import { Worker } from './worker.js';

const FASTIFY = fileURLToPath(new URL('../http/fastify-server.js', import.meta.url));

const SPANS = new URL('discarded-spans.js', import.meta.url).href;

const BEFORE = process.env.BENCH_BEFORE;

/** Servers that are compared over HTTP. With `BENCH_BEFORE`, the folder of another build, its wallet service too. */
export const servers = [
  { name: 'framework', label: '**the wallet service of fw-actions**', schema: 'framework' },
  ...(BEFORE === undefined
    ? []
    : [{ name: 'framework-before', label: 'the same before', schema: 'framework', build: BEFORE }]),
  ...(process.env.BENCH_TRACED === undefined
    ? []
    : [
        {
          name: 'framework-traced',
          label: 'the same, every request traced',
          schema: 'framework',
          imported: SPANS,
        },
      ]),
  { name: 'node-postgres', label: 'Fastify with node-postgres by hand', schema: 'peer', withAction: false },
  { name: 'node-postgres+action', label: "the same with the action's row", schema: 'peer', withAction: true },
];

export const loads = [
  { name: 'http-32', label: 'HTTP, 32 connections', concurrency: 32 },
  { name: 'http-128', label: 'HTTP, 128 connections', concurrency: 128 },
];

const PREHEAT_MS = 4_000;

/** The wallet service and the peers. */
export function measureHttp(server, options) {
  return measureServers(server, options, { servers, loads });
}

/**
 * Measures server processes under load from a separate process on the same machine.
 *
 * @param compared servers, each with `start(connection, folder)` unless it is one of ours, and the loads
 */
export async function measureServers(server, options, compared) {
  const folder = mkdtempSync(join(tmpdir(), 'fw-bench-'));
  const entries = [];
  try {
    for (const variant of compared.servers) entries.push(await openEntry(server, variant, folder));
    const preheat = { concurrency: 32, hot: false, warmUpMs: 0, measureMs: PREHEAT_MS };
    for (const entry of entries) count(entry, await entry.client.run(preheat));
    const results = [];
    for (const load of compared.loads)
      results.push({ ...load, rounds: await measureLoad(entries, load, { server, options }) });
    for (const entry of entries) await check(entry);
    return { workloads: results };
  } finally {
    for (const { client, service, database } of entries) {
      await client.close();
      await service.stop();
      await dropDatabase(server, database);
    }
    rmSync(folder, { recursive: true, force: true });
  }
}

async function openEntry(server, variant, folder) {
  const database = `b_http_${variant.name.toLowerCase().replaceAll(/[^a-z]/g, '_')}`;
  const connection = await createDatabase(server, database, variant.schema, variant.build);
  const { start = startVariant(variant) } = variant;
  const { service, headers } = await start(connection, folder);
  const { hostname, port } = service.url;
  const client = await Worker.start('http-client', { host: hostname, port: Number(port), headers });
  return { variant, database, connection, service, client, acknowledged: { deposits: 0, cents: 0 } };
}

function startVariant({ schema, withAction, build, imported }) {
  return async (connection, folder) => {
    if (schema === 'peer') {
      const peer = await ServerProcess.start(FASTIFY, [JSON.stringify({ connection, withAction })]);
      return { service: peer, headers: {} };
    }
    const file = configurationFile(folder, 'fw.config', connection);
    const main = fileURLToPath(builtFile('examples/wallet/main.js', build));
    const args = ['--config', file, '--port', '0', '--host', '127.0.0.1'];
    const service = await ServerProcess.start(main, args, imported);
    return { service, headers: {} };
  };
}

/** Writes a configuration of one shard, with defaults for everything else. @returns its path */
export function configurationFile(folder, name, connection, more = '') {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, configuration(connection, more));
  return file;
}

function configuration({ host, port, user, password, database }, more) {
  return `
fw:
  namespace: bench
${more}
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

function count({ acknowledged }, { total }) {
  acknowledged.deposits += total.deposits;
  acknowledged.cents += total.cents;
}

async function measureLoad(entries, { name, concurrency }, { server, options }) {
  const { warmUpMs, measureMs } = options;
  const rounds = [];
  await rotate(entries, options.rounds, async ({ variant, client, service, acknowledged }, round) => {
    const watched = { cpuSeconds: () => ({ service: service.cpuSeconds(), server: server.cpuSeconds() }) };
    const { total, cpu, clientUs, ...numbers } = await client.run(
      { concurrency, hot: false, warmUpMs, measureMs },
      watched,
    );
    count({ acknowledged }, { total });
    const perDeposit = (part) => ((cpu.end[part] - cpu.begin[part]) * 1e6) / numbers.deposits;
    const used = { loadUs: clientUs, clientUs: perDeposit('service'), serverUs: perDeposit('server') };
    rounds.push({ round, variant: variant.name, ...numbers, ...used, errors: total.errors });
    progress(`${name} round ${round + 1}: ${variant.name} ${Math.round(numbers.perSecond)}/s`);
  });
  return rounds;
}

async function check({ variant, connection, acknowledged }) {
  const mismatch = findMismatch(await readTotals(connection, variant.schema), acknowledged);
  if (mismatch !== undefined)
    throw new Error(`${variant.name} over HTTP has lost or invented something: ${mismatch}`);
}
