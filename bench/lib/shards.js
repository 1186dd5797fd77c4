import { createDatabase, dropDatabase, withClient } from './database.js';
import { progress } from './report.js';
import { rotate } from './rotation.js';
import { Worker } from './worker.js';

const DATABASE = 'b_shards';

const PREHEAT_MS = 3_000;

/** Numbers of configured shards. One is used; the others name databases that do not exist. */
export const counts = [1, 10, 100, 1000];

/** The cost of configured shards: the time of one `execute()`, memory, connections. */
export async function measureShards(server, options) {
  const connection = await createDatabase(server, DATABASE, 'framework');
  const entries = [];
  try {
    for (const count of counts) {
      entries.push({ count, worker: await Worker.start('shards', { connection, shape: { shards: count } }) });
    }
    const preheat = { concurrency: 1, hot: false, warmUpMs: 0, measureMs: PREHEAT_MS };
    for (const { worker } of entries) await worker.run(preheat);
    const rounds = await measureRounds(entries, options);
    const facts = [];
    for (const { count, worker } of entries) facts.push({ count, ...(await worker.ask('facts')) });
    const open = await connections(server);
    return { rounds, facts, connections: open, processes: entries.length };
  } finally {
    await Promise.all(entries.map(({ worker }) => worker.close()));
    await dropDatabase(server, DATABASE);
  }
}

async function measureRounds(entries, options) {
  const { warmUpMs, measureMs } = options;
  const rounds = [];
  await rotate(entries, options.rounds, async ({ count, worker }, round) => {
    const { p50Ms, p99Ms, clientUs } = await worker.run({ concurrency: 1, hot: false, warmUpMs, measureMs });
    rounds.push({ round, count, p50Ms, p99Ms, clientUs });
    progress(`${count} shards round ${round + 1}: ${p50Ms.toFixed(3)} ms`);
  });
  return rounds;
}

/** Connections of the framework's processes. */
function connections(server) {
  return withClient(server.connection, async (client) => {
    const { rows } = await client.query(
      `select count(*)::int as count from pg_stat_activity where application_name = 'fw-bench'`,
    );
    return rows[0].count;
  });
}
