import { expect, test } from 'vitest';
import type { AdapterName, DatabaseHarness } from '../../runtime/testing/databases.js';
import { describeOn } from '../../runtime/testing/databases-vitest.js';
import { checkRun } from './check.js';
import { migrations } from './models.js';
import { runModel, SHARDS } from './run-model.js';

/** `FW_SEED` runs the same actions again, `FW_MODEL_ACTIONS` more or fewer of them. */
const seed = Number(process.env['FW_SEED'] ?? Date.now() % 1_000_000);
const ACTIONS: Readonly<Record<AdapterName, number>> = { postgresql: 20_000, pglite: 5_000 };

async function runAndCheck(harness: DatabaseHarness, adapter: AdapterName): Promise<void> {
  const actions = Number(process.env['FW_MODEL_ACTIONS'] ?? ACTIONS[adapter]);
  const databases = await harness.makeShards({ shards: SHARDS, migrations });
  const startMs = performance.now();
  const run = await runModel({ databases, seed, actions, concurrency: 24, profile: { limits: true } });
  const runMs = Math.round(performance.now() - startMs);
  const { problems, answers, applied } = await checkRun(run, databases);
  console.info(`${adapter}: FW_SEED=${seed}, ${run.executions.length} actions, ${applied} plans, ${run.executions.reduce((n, e) => n + e.traces.length, 0)} performs, ${runMs} ms`, answers);
  if (process.env['FW_DEBUG']) {
    console.log(problems.slice(0,60).join('\n'));
    const nums = new Set(problems.slice(0, 8).flatMap((p) => [Number(/execution (\d+)/.exec(p)?.[1]), Number(/by (\d+)\./.exec(p)?.[1])]));
    for (const e of run.executions)
      if (nums.has(e.number)) {
        const err = e.answer?.kind === 'error' ? String(e.answer.error) + JSON.stringify(e.answer.error) + String((e.answer.error as Error).cause) : '';
        console.log(JSON.stringify({ n: e.number, script: e.script, terms: e.terms, at: e.report?.attempts, err, answer: e.answer?.kind==='result' ? e.answer : null, trace: e.traces.at(-1), ntr: e.traces.length }, null, 0).slice(0, 4000));
      }
  }
  expect(problems.slice(0, 10), `FW_SEED=${seed}`).toEqual([]);
  expect(run.executions.length).toBeGreaterThanOrEqual(actions);
}

for (const adapter of ['postgresql', 'pglite'] as const) {
  describeOn(adapter, 'random actions on two executors', (harness) => {
    test('answer and leave what one action after the other would', { timeout: 3_600_000 }, () =>
      runAndCheck(harness, adapter));
  });
}
