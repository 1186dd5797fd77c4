import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { contentHash } from '../content-hash.js';
import { fwGen, type Ran } from '../test-support/fw-gen.js';
import { modelText, type TestProject, testProject } from '../test-support/projects.js';
import { chooserFrom, editSources, restoreSources, textsOf } from '../test-support/source-edits.js';
import { run } from './program.js';
import { filesUpToDate } from './run-cache.js';

const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const EDITS = 150;
const STATE = 'src/generated/.fw-cache/state.json';
const RESULTS = 'src/generated/.fw-cache/results.txt';

let project: TestProject;

beforeEach(() => {
  project = testProject('handlers');
});

afterEach(() => project.delete());

function generate(...flags: readonly string[]): Promise<Ran> {
  return fwGen('generate', '--config', project.config, ...flags);
}

/** What the sources say, by a run that knows nothing. */
async function check(): Promise<Ran> {
  return generate('--check', '--no-cache');
}

test(`${EDITS} edits with a run after each, one upon what the other left behind, keep the output right (FUZZ_SEED=${seed})`, async () => {
  const originals = textsOf(project.folder);
  const choose = chooserFrom(seed);
  await generate();
  for (let count = 0; count < EDITS; count += 1) {
    editSources(project.folder, choose, originals);
    const { code, error } = await generate();
    const cold = await check();
    expect({ count, code, error }).toEqual({ count, code: cold.code, error: cold.error });
  }
  restoreSources(project.folder, originals);
  expect((await generate()).code).toBe(0);
  expect((await check()).code).toBe(0);
}, 120_000);

test('texts that change within a tick of the clock are not taken for the same', async () => {
  project.write('src/models/extra.ts', modelText('Extra', 'fieldA'));
  await generate();
  for (const name of ['fieldB', 'fieldC', 'fieldD', 'fieldE', 'fieldF', 'fieldG']) {
    project.write('src/models/extra.ts', modelText('Extra', name));
    await generate();
    expect(project.read('src/generated/extra.ts')).toContain(`${name}(`);
  }
});

test('a file that may change again without a trace is known by its text alone', async () => {
  const path = 'src/models/extra.ts';
  project.write(path, modelText('Extra'));
  const later = new Date(Date.now() + 3_600_000);
  utimesSync(join(project.folder, path), later, later);
  await generate();
  expect(JSON.parse(project.read(STATE))).toMatchObject({
    inputs: { [path]: ['?', expect.stringMatching(/./)] },
  });
});

test('a source that changes while a run looks at the output is seen by the next run', async () => {
  const path = 'src/models/extra.ts';
  project.write(path, modelText('Extra', 'fieldA'));
  const progress = (phase: string): void => {
    if (phase.startsWith('write')) project.write(path, modelText('Extra', 'fieldB'));
  };
  const output = { info: () => undefined, error: () => undefined, progress };
  await run(['generate', '--config', project.config], output, { version: '1.2.3' });
  expect(project.read('src/generated/extra.ts')).toContain('fieldA(');
  await generate();
  expect(project.read('src/generated/extra.ts')).toContain('fieldB(');
});

test('another configuration of the same output is not answered from what this one left behind', async () => {
  await generate();
  await sleep(80);
  await generate();
  expect(filesUpToDate(project.config)).toBeGreaterThan(0);
  const other = project.config.replace('.yaml', '.other.yaml');
  writeFileSync(other, project.read('fw.config.yaml').replace('source: src,', 'source: src, title: Other,'));
  expect(filesUpToDate(other)).toBeUndefined();
});

test('an edit that changes nothing for the output writes nothing', async () => {
  await generate();
  await generate();
  const before = project.emitted();
  const action = 'src/actions/order-place-action.ts';
  project.write(action, `// A line more.\n${project.read(action)}`);
  const { info } = await generate('--timing');
  expect(info).toMatch(/^0 files written/);
  expect(info).not.toContain('emit');
  expect(project.emitted()).toEqual(before);
});

test('what was removed from the output comes back, although no source changed', async () => {
  await generate();
  await generate();
  const before = project.emitted();
  project.remove('src/generated/order.ts');
  expect((await generate()).info).toMatch(/^1 file written/);
  expect(project.emitted()).toEqual(before);
});

describe('a cache that is', () => {
  const cut = (path: string): void => {
    const text = project.read(path);
    project.write(path, text.slice(0, text.length / 2));
  };

  test.each<readonly [string, () => void]>([
    ['cut off', () => cut(STATE)],
    ['without a half of its results', () => cut(RESULTS)],
    ['without results', () => project.remove(RESULTS)],
    ['of another format', () => project.write(STATE, '{"format":1,"states":{}}')],
    ['no object', () => project.write(STATE, 'null')],
    ['full of other things', () => project.write(STATE, project.read(STATE).replaceAll('["', '[["'))],
    [
      'of another program',
      () => project.write(STATE, project.read(STATE).replace('"program":"', '"program":"x')),
    ],
    ['of another run', () => project.write(STATE, project.read(STATE).replace('"run":"', '"run":"x'))],
    ['not text', () => writeFileSync(join(project.folder, RESULTS), Buffer.from([0xff, 0, 0xfe]))],
  ])('%s is no mistake', async (_what, damage) => {
    await generate();
    damage();
    project.write('src/models/extra.ts', modelText('Extra'));
    expect(await generate()).toMatchObject({ code: 0, error: '' });
    expect((await check()).code).toBe(0);
  });

  test('moved with its project is as good as before', async () => {
    await generate();
    const copy = testProject('handlers');
    for (const path of [STATE, RESULTS]) copy.write(path, project.read(path));
    const { code } = await fwGen('generate', '--config', copy.config);
    const emitted = copy.emitted();
    copy.delete();
    expect({ code, emitted }).toEqual({ code: 0, emitted: project.emitted() });
  });
});

describe('--verify-cache', () => {
  test('finds nothing where nothing was tampered with', async () => {
    await generate();
    expect(await generate('--verify-cache')).toMatchObject({ code: 0, error: '' });
    project.write('src/models/extra.ts', modelText('Extra'));
    expect(await generate('--verify-cache')).toMatchObject({ code: 0, error: '' });
  });

  test('finds results that are not what the sources say', async () => {
    await generate();
    const lines = readFileSync(join(project.folder, RESULTS), 'utf8').split('\n');
    const body = lines.slice(4).join('\n').replaceAll('"sharded":true', '"sharded":false');
    project.write(RESULTS, [...lines.slice(0, 3), contentHash(body), body].join('\n'));
    const { code, error } = await generate('--verify-cache');
    expect(code).toBe(3);
    expect(error).toContain('The cache holds something else than a run finds for src/');
  });
});
