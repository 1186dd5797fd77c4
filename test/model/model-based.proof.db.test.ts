import { expect, test } from 'vitest';
import type { AdapterName, DatabaseHarness } from '../databases/databases.js';
import { describeOn } from '../databases/vitest.js';
import { checkRun } from './check.js';
import { migrations } from './models.js';
import { runModel, SHARDS } from './run-model.js';

/**
 * `FW_SEED` runs the same actions again; `FW_MODEL_ROUNDS` (`npm run proof:model`) is the number of long runs, each
 * with the next seed.
 */
const firstSeed = Number(process.env['FW_SEED'] ?? Date.now() % 1_000_000);
const rounds = Number(process.env['FW_MODEL_ROUNDS'] ?? 1);
const seeds = Array.from({ length: rounds }, (_, round) => firstSeed + round);

/** The test command runs a share of the proof. */
const share = process.env['FW_MODEL_ROUNDS'] === undefined ? 0.125 : 1;

const ACTIONS: Readonly<Record<AdapterName, number>> = {
  postgresql: 20_000 * share,
  pglite: 5_000 * share,
};
/** Far more than a round takes on an idle machine. */
const TIMEOUT_MS = 300_000;

async function runAndCheck(harness: DatabaseHarness, seed: number): Promise<void> {
  const actions = ACTIONS[harness.adapter];
  const databases = await harness.makeShards({ shards: SHARDS, migrations });
  const startMs = performance.now();
  const run = await runModel({ databases, seed, actions, concurrency: 24, profile: { limits: true } });
  const runMs = Math.round(performance.now() - startMs);
  const { problems, answers, applied } = await checkRun(run, databases);
  console.info(
    `${harness.adapter}, FW_SEED=${seed}: ${actions} actions, ${applied} plans, ${runMs} ms`,
    answers,
  );
  expect(problems.slice(0, 10), `run again with FW_SEED=${seed}`).toEqual([]);
  expect(run.executions).toHaveLength(actions);
  // A run with few applied plans would prove little.
  expect(applied).toBeGreaterThan(actions / 3);
}

for (const adapter of ['postgresql', 'pglite'] as const) {
  describeOn(adapter, 'random actions on two executors', (harness) => {
    test.each(seeds)(
      'answer and leave what one action after the other would (seed %i)',
      { timeout: TIMEOUT_MS },
      (seed) => runAndCheck(harness, seed),
    );
  });
}
