import { expect, test } from 'vitest';
import type { DatabaseHarness } from '../databases/databases.js';
import { describeOn } from '../databases/vitest.js';
import { checkRun } from './check.js';
import { defects } from './defects.js';
import { migrations } from './models.js';
import { type MakeGateways, runModel, SHARDS } from './run-model.js';
import type { Profile } from './script-maker.js';

interface Fight {
  readonly gateways?: MakeGateways;
  readonly profile: Profile;
  readonly actions: number;
}

/** The checker's report on a run with this defect. */
async function problemsOf(harness: DatabaseHarness, fight: Fight, seed = 7): Promise<readonly string[]> {
  const databases = await harness.makeShards({ shards: SHARDS, migrations });
  const run = await runModel({ databases, seed, concurrency: 8, ...fight });
  return (await checkRun(run, databases)).problems;
}

/** A defect shows only in certain interleavings, so there are several runs with different seeds. */
const RUNS = 6;

/** The checker's report on the first run with problems; empty if there is none. */
async function firstProblems(harness: DatabaseHarness, fight: Fight): Promise<string> {
  for (let seed = 7; seed < 7 + RUNS; seed += 1) {
    const problems = await problemsOf(harness, fight, seed);
    if (problems.length > 0) return problems.join('\n');
    await harness.cleanUp();
  }
  return '';
}

describeOn('postgresql', 'the checker of random actions', (harness) => {
  test('reports a staged state that is read after its plan has failed', async () => {
    const problems = await firstProblems(harness, {
      gateways: defects.ghost,
      profile: { labelClashes: 0.8 },
      // An execution that reads a ghost retries until its limit, so few actions take long enough.
      actions: 300,
    });
    expect(problems).toMatch(/read version \d+ of \S+, which was never committed|read \S+ by/);
  });

  test('reports an answer that did not wait for the plans that it had read', async () => {
    const problems = await firstProblems(harness, {
      gateways: defects.hasty,
      profile: { labelClashes: 0.8 },
      actions: 1_500,
    });
    expect(problems).toMatch(/answered |which was never committed/);
  });

  test('reports a plan that is lost when its statement is split', async () => {
    const problems = await firstProblems(harness, {
      gateways: defects.forgetful,
      profile: { labelClashes: 0.8 },
      actions: 1_500,
    });
    expect(problems).toMatch(/answered result, and 0 of 1 plans are committed/);
  });

  test('reports write skew between an update and an expectation in one statement', async () => {
    const problems = await firstProblems(harness, {
      gateways: defects.blind,
      profile: { skew: true },
      actions: 1_500,
    });
    expect(problems).toMatch(/no serial order/);
  });

  test('reports no problem in the same runs without a defect', async () => {
    expect(await problemsOf(harness, { profile: { skew: true }, actions: 1_000 })).toEqual([]);
    expect(await problemsOf(harness, { profile: { labelClashes: 0.8 }, actions: 1_000 })).toEqual([]);
  });
});
