/**
 * The effect of callers whose new wallets violate a constraint on other callers: half of the callers do nothing else.
 * Compared with the same number of valid callers.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createDatabase, dropDatabase, withClient } from './database.js';
import { built, openWallet } from './product.js';
import { decimals, progress, whole } from './report.js';
import { median, quantile } from './statistics.js';

const CALLERS = 64;
const DATABASE = 'b_refusals';

const REFUSALS = ['FW_UNIQUE_VIOLATION', 'FW_CONSTRAINT_VIOLATION'];

/** An owner whose wallets each constraint refuses. */
const REFUSED = randomUUID();
const CONSTRAINTS = {
  unique: 'create unique index one_wallet_each on wallets (owner_id)',
  check: `alter table wallets add check (owner_id <> '${REFUSED}')`,
};

/** For each constraint, rounds of three slices: only valid callers, half refused, and the valid half alone. */
export async function measureRefusals(server, options) {
  const results = {};
  for (const [name, sql] of Object.entries(CONSTRAINTS)) {
    results[name] = await measureConstraint(server, options, { name, sql });
  }
  return results;
}

async function measureConstraint(server, options, constraint) {
  const connection = await createDatabase(server, DATABASE, 'framework');
  await withClient(connection, (client) => client.query(`truncate wallets; ${constraint.sql}`));
  const wallet = await openWallet(connection);
  try {
    const create = await creator(wallet);
    if (constraint.name === 'unique') await create(REFUSED);
    const loads = {
      honest: Array(CALLERS).fill(undefined),
      refused: Array.from({ length: CALLERS }, (_, index) => (index % 2 === 0 ? undefined : REFUSED)),
      alone: Array(CALLERS / 2).fill(undefined),
    };
    const rounds = [];
    for (let round = -1; round < options.rounds; round += 1) {
      const slices = {};
      for (const [name, callers] of Object.entries(loads)) {
        slices[name] = await slice(create, callers, { server, ...options });
      }
      // The first round warms up.
      if (round >= 0) rounds.push(slices);
      progress(
        `refusals by ${constraint.name}, round ${round + 1}: ${Object.entries(slices).map(([name, { perCaller }]) => `${name} ${whole(perCaller)}/s`)}`,
      );
    }
    return {
      rounds,
      ratio: median(rounds.map(({ honest, refused }) => refused.perCaller / honest.perCaller)),
    };
  } finally {
    await wallet.close();
    await dropDatabase(server, DATABASE);
  }
}

async function creator(wallet) {
  const { Decimal } = await built('runtime/index.js');
  const { WalletCreateAction } = await built('examples/wallet/actions/wallet-create-action.js');
  return (ownerId) => {
    // The writer tells callers apart by their principals.
    const name = ownerId === REFUSED ? 'refused' : 'honest';
    return wallet.executor.execute({ name, claims: { role: 'operator' } }, WalletCreateAction, {
      country: 'US',
      ownerId,
      currency: 'USD',
      initialBalance: new Decimal(0),
    });
  };
}

/** @param callers owner of the wallets that each caller creates; undefined: a new owner each time */
async function slice(create, callers, { server, warmUpMs, measureMs }) {
  const count = { applied: 0, refused: 0 };
  const latencies = [];
  let stopping = false;
  const loops = callers.map(async (owner) => {
    while (!stopping) {
      const begin = performance.now();
      try {
        await create(owner ?? randomUUID());
        count.applied += 1;
        latencies.push(performance.now() - begin);
      } catch (error) {
        if (owner === undefined || !REFUSALS.includes(error.code)) throw error;
        count.refused += 1;
      }
    }
  });
  await delay(warmUpMs);
  const before = { ...count, latencies: latencies.length, cpu: server.cpuSeconds(), own: process.cpuUsage() };
  const begin = performance.now();
  await delay(measureMs);
  const seconds = (performance.now() - begin) / 1000;
  const own = process.cpuUsage(before.own);
  const cpu = server.cpuSeconds();
  stopping = true;
  await Promise.all(loops);
  const [applied, refused] = [count.applied - before.applied, count.refused - before.refused];
  const honest = callers.filter((owner) => owner === undefined).length;
  return {
    perCaller: applied / seconds / honest,
    appliedPerSecond: applied / seconds,
    refusedPerSecond: refused / seconds,
    medianMs: quantile(latencies.slice(before.latencies), 0.5),
    clientUs: (own.user + own.system) / (applied + refused),
    serverUs: cpu === undefined ? undefined : ((cpu - before.cpu) * 1e6) / (applied + refused),
  };
}

/** One table per constraint. */
export function refusalsTables(results) {
  return Object.entries(results).map(([name, measured]) => refusalsTable(name, measured));
}

/** One row per load, medians of the rounds. */
function refusalsTable(constraint, { rounds, ratio }) {
  const labels = { honest: '64 honest', refused: '32 honest, 32 refused', alone: '32 honest' };
  const rows = Object.entries(labels).map(([name, label]) => {
    const of = (key) => median(rounds.map((round) => round[name][key]));
    return [
      label,
      whole(of('appliedPerSecond')),
      whole(of('refusedPerSecond')),
      decimals(of('medianMs')),
      `${decimals(of('clientUs'))} + ${decimals(of('serverUs'))}`,
    ];
  });
  const heading = [
    'callers',
    'applied/s',
    'refused/s',
    'median ms of an honest one',
    'CPU us per call, client + server',
  ];
  return {
    name: `refusals-${constraint}`,
    title: `Callers who repeat what a ${constraint} constraint refuses: an honest one beside them gets ${decimals(ratio * 100)} % of what it gets beside honest ones`,
    table: { heading, rows },
  };
}
