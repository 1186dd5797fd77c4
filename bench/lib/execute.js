import { createDatabase, dropDatabase, findMismatch, readTotals, withClient } from './database.js';
import { hasPgbench, Pgbench } from './pgbench.js';
import { generatePrisma } from './prisma.js';
import { progress } from './report.js';
import { rotate } from './rotation.js';
import { variants, workloads } from './variants.js';
import { Worker } from './worker.js';

const PREHEAT_MS = 3_000;

/** The main comparison: every variant with its own database and process, in one interleaved run. */
export async function measureExecute(server, options) {
  const { entries, missing } = await openEntries(server, options);
  try {
    for (const entry of entries) await preheat(entry, server);
    const results = [];
    for (const workload of workloads) {
      if (options.workloads?.includes(workload.name) === false) continue;
      results.push({ ...workload, rounds: await measureWorkload(entries, workload, { server, options }) });
    }
    return { workloads: results, missing };
  } finally {
    await Promise.all(entries.map(({ worker }) => worker.close()));
    for (const { database } of entries) await dropDatabase(server, database);
  }
}

async function openEntries(server, options) {
  const entries = [];
  const missing = [];
  const chosen = variants.filter(({ name }) => options.variants?.includes(name) ?? true);
  for (const variant of chosen) {
    const reason = unavailable(/** @type {any} */ (variant));
    if (reason !== undefined) {
      missing.push({ variant: variant.name, reason });
      continue;
    }
    const database = `b_${variant.name.replaceAll(/[^a-z]/g, '_')}`;
    const connection = await createDatabase(server, database, variant.schema, variant.build);
    const acknowledged = { deposits: 0, cents: 0 };
    entries.push({
      variant,
      database,
      connection,
      acknowledged,
      worker: await openWorker(variant, connection, server),
    });
  }
  return { entries, missing };
}

function unavailable({ module, pgbench }) {
  if (module === 'prisma') return generatePrisma();
  if (pgbench !== undefined && !hasPgbench()) return 'there is no pgbench on this machine';
  return undefined;
}

/** @param {any} variant one of `variants` */
function openWorker({ module, pgbench, options, rows, build }, connection, { hasUuid7 }) {
  if (pgbench !== undefined)
    return new Pgbench(connection, { form: pgbench, withAction: rows === 3, hasUuid7 });
  return Worker.start(module, { ...options, connection }, build);
}

/** In its first seconds, a process compiles code and opens connections. */
async function preheat(entry, server) {
  const load = { concurrency: 32, hot: false, warmUpMs: 0, measureMs: PREHEAT_MS };
  count(entry, await entry.worker.run(load, server));
}

function count({ acknowledged }, { total }) {
  acknowledged.deposits += total.deposits;
  acknowledged.cents += total.cents;
}

async function measureWorkload(entries, workload, { server, options }) {
  const { concurrency, hot } = workload;
  const { warmUpMs, measureMs } = options;
  const rounds = [];
  const taking = entries.filter(({ variant }) => variant.takesPart?.(workload) ?? true);
  let last = -1;
  await rotate(taking, options.rounds, async (entry, round) => {
    if (round !== last) await tidyUp(taking, server);
    last = round;
    const slice = await entry.worker.run({ concurrency, hot, warmUpMs, measureMs }, server);
    const { total, cpu, ...numbers } = slice;
    const serverUs = ((cpu.end - cpu.begin) * 1e6) / numbers.deposits;
    count(entry, slice);
    rounds.push({ round, variant: entry.variant.name, ...numbers, serverUs, errors: total.errors });
    progress(`${workload.name} round ${round + 1}: ${entry.variant.name} ${Math.round(numbers.perSecond)}/s`);
  });
  for (const entry of taking) await check(entry);
  return rounds;
}

/** Does the work of autovacuum and checkpoints at defined times. */
async function tidyUp(entries, server) {
  for (const { connection } of entries) {
    await withClient(connection, (client) => client.query('vacuum (analyze) wallets'));
  }
  await withClient(server.connection, (client) => client.query('checkpoint'));
}

/** Money, versions and events must equal exactly what was acknowledged. */
async function check({ variant, connection, acknowledged }) {
  const mismatch = findMismatch(await readTotals(connection, variant.schema), acknowledged);
  if (mismatch !== undefined) throw new Error(`${variant.name} has lost or invented something: ${mismatch}`);
}
