import { createDatabase, dropDatabase, findMismatch, readTotals, withClient } from './database.js';
import { progress } from './report.js';
import { rotate } from './rotation.js';
import { Worker } from './worker.js';

const DATABASE = 'b_processes';
const LOOPS = 32;
const PREHEAT_MS = 3_000;

export const shapes = [
  { name: 'cold', label: '10,000 wallets, 32 at once per process', hot: false },
  { name: 'hot', label: 'one hot wallet, 32 at once per process', hot: true },
];

/** Compares one executor process with two on the same database. */
export async function measureProcesses(server, options) {
  const connection = await createDatabase(server, DATABASE, 'framework');
  const workers = [];
  const acknowledged = { deposits: 0, cents: 0 };
  try {
    for (let index = 0; index < 2; index += 1) workers.push(await Worker.start('framework', { connection }));
    const preheat = { concurrency: LOOPS, hot: false, warmUpMs: 0, measureMs: PREHEAT_MS };
    for (const worker of workers) acknowledge(acknowledged, await worker.run(preheat));
    const results = [];
    for (const shape of shapes) {
      results.push({
        ...shape,
        rounds: await measureShape(workers, shape, { connection, options, acknowledged }),
      });
    }
    const mismatch = findMismatch(await readTotals(connection, 'framework'), acknowledged);
    if (mismatch !== undefined) throw new Error(`Two processes have lost or invented something: ${mismatch}`);
    return { shapes: results };
  } finally {
    await Promise.all(workers.map((worker) => worker.close()));
    await dropDatabase(server, DATABASE);
  }
}

function acknowledge(acknowledged, { total }) {
  acknowledged.deposits += total.deposits;
  acknowledged.cents += total.cents;
}

async function measureShape(workers, { name, hot }, { connection, options, acknowledged }) {
  const { warmUpMs, measureMs } = options;
  const rounds = [];
  await rotate([1, 2], options.rounds, async (count, round) => {
    const before = await deadlocks(connection);
    const taking = count === 1 ? [workers[round % workers.length]] : workers;
    const load = { concurrency: LOOPS, hot, warmUpMs, measureMs };
    const slices = await Promise.all(taking.map((worker) => worker.run(load)));
    for (const slice of slices) acknowledge(acknowledged, slice);
    const perSecond = slices.map((slice) => slice.perSecond);
    const errors = slices.map(({ total }) => total.errors);
    rounds.push({ round, count, perSecond, errors, deadlocks: (await deadlocks(connection)) - before });
    progress(`${name} round ${round + 1}: ${count} process(es) ${perSecond.map(Math.round).join(' + ')}/s`);
  });
  return rounds;
}

function deadlocks(connection) {
  return withClient(connection, async (client) => {
    const { rows } = await client.query(
      'select deadlocks::int as deadlocks from pg_stat_database where datname = current_database()',
    );
    return rows[0].deadlocks;
  });
}
