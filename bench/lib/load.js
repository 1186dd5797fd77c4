import { setTimeout as delay } from 'node:timers/promises';
import { quantile } from './statistics.js';
import { amounts, walletIds } from './wallets.js';

/** A version conflict: thrown by peers, retried here. */
export class Stale extends Error {}

/** The default pauses, equal to the framework's: exponential backoff with full jitter. */
const backoffMs = (attempt) => Math.random() * Math.min(250, 8 * 2 ** attempt);
/** Pause after an error, so that a target that always fails does not spin. */
const ERROR_PAUSE_MS = 10;

/**
 * Deposits from `concurrency` loops: first a warm-up, then a window that is measured. All acknowledged deposits count
 * for the check of the sums, inside of the window or not.
 *
 * @param {any} target has `deposit(walletId, amountText)`, and `pauseMs` if it does not back off after a lost version
 * @param {any} load
 * @param {(edge: 'begin' | 'end') => void} onWindow called when the window begins and ends
 */
export async function runLoad(target, { concurrency, hot, warmUpMs, measureMs }, onWindow = () => {}) {
  const total = { deposits: 0, cents: 0, stale: 0, errors: {} };
  const latencies = [];
  const startsAt = performance.now() + warmUpMs;
  const endsAt = startsAt + measureMs;
  let stopping = false;
  const loops = Array.from({ length: concurrency }, () =>
    loop(target, { hot, total, stopping: () => stopping }, (begin, end) => {
      if (end >= startsAt && end < endsAt) latencies.push(end - begin);
    }),
  );
  await delay(startsAt - performance.now());
  const before = snapshot(total, latencies);
  onWindow('begin');
  await delay(endsAt - performance.now());
  const after = snapshot(total, latencies);
  onWindow('end');
  stopping = true;
  await Promise.all(loops);
  return { ...measured(before, after, latencies.slice(before.measured, after.measured)), total };
}

function snapshot(total, latencies) {
  const { user, system } = process.cpuUsage();
  const at = performance.now();
  return {
    at,
    deposits: total.deposits,
    stale: total.stale,
    measured: latencies.length,
    user,
    system,
  };
}

function measured(before, after, latencies) {
  const deposits = after.deposits - before.deposits;
  const seconds = (after.at - before.at) / 1000;
  return {
    deposits,
    perSecond: deposits / seconds,
    clientUs: (after.user + after.system - before.user - before.system) / deposits,
    clientUserUs: (after.user - before.user) / deposits,
    stalePerDeposit: (after.stale - before.stale) / deposits,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
  };
}

async function loop(target, state, onLatency) {
  const { total, hot, stopping } = state;
  while (!stopping()) {
    const id = hot ? walletIds[0] : walletIds[Math.floor(Math.random() * walletIds.length)];
    const amount = amounts[Math.floor(Math.random() * amounts.length)];
    const begin = performance.now();
    try {
      if (!(await untilApplied(target, id, amount, state))) return;
      total.deposits += 1;
      total.cents += amount.cents;
      onLatency(begin, performance.now());
    } catch (error) {
      const name = error?.code ?? error?.name ?? String(error);
      if (total.errors[name] === undefined) process.stderr.write(`${error?.stack ?? error}\n`);
      total.errors[name] = (total.errors[name] ?? 0) + 1;
      await delay(ERROR_PAUSE_MS);
    }
  }
}

/** False if the run ended before the deposit succeeded. */
async function untilApplied(target, id, amount, { total, stopping }) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await target.deposit(id, amount.text);
      return true;
    } catch (error) {
      if (!(error instanceof Stale)) throw error;
      total.stale += 1;
      if (stopping()) return false;
      const pauseMs = target.pauseMs ?? backoffMs(attempt);
      if (pauseMs > 0) await delay(pauseMs);
    }
  }
}
