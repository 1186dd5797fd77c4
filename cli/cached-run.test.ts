import { cpSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { contentHash } from '../generator/content-hash.js';
import { fwGen, type Ran } from '../generator/test-support/fw-gen.js';
import { modelText, type TestProject, testProject } from '../generator/test-support/projects.js';
import {
  type Choose,
  chooserFrom,
  editBody,
  editSources,
  restoreSources,
  textsOf,
} from '../generator/test-support/source-edits.js';
import { run } from './program.js';
import { filesUpToDate } from './run-cache.js';

const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const EDITS = 150;
const CHANGES = 60;
const STATE = 'src/generated/.fw-cache/state.json';
const CACHE = 'src/generated/.fw-cache';
const RESULTS = `${CACHE}/results.txt`;

let project: TestProject;

beforeEach(() => {
  project = testProject('handlers');
});

afterEach(() => project.delete());

function generate(...flags: readonly string[]): Promise<Ran> {
  return fwGen('generate', '--config', project.config, ...flags);
}

/** Runs `generate --check` without the cache. */
async function check(...flags: readonly string[]): Promise<Ran> {
  return generate('--check', '--no-cache', ...flags);
}

/** The same without hints, which only `--check` prints. */
const quietCheck = (): Promise<Ran> => check('--quiet');

test(`${EDITS} edits with a run after each, one upon what the other left behind, keep the output right (FUZZ_SEED=${seed})`, async () => {
  const originals = textsOf(project.folder);
  const choose = chooserFrom(seed);
  await generate();
  for (let count = 0; count < EDITS; count += 1) {
    editSources(project.folder, choose, originals);
    const { code, error } = await generate();
    const cold = await quietCheck();
    expect({ count, code, error }).toEqual({ count, code: cold.code, error: cold.error });
  }
  restoreSources(project.folder, originals);
  expect((await generate()).code).toBe(0);
  expect((await check()).code).toBe(0);
}, 120_000);

/** Changes one input of the output, the output itself, or a stored result of an earlier run. */
function changeAnything(choose: Choose, originals: ReadonlyMap<string, string>): void {
  const pick = (folder: string, pattern: RegExp): string | undefined => {
    const names = readdirSync(join(project.folder, folder)).filter((name) => pattern.test(name));
    return names.length === 0 ? undefined : `${folder}/${names[choose(names.length)]}`;
  };
  const output = pick('src/generated', /\.ts$/);
  const cached = pick('src/generated/.fw-cache', /^(state|results|texts)/);
  switch (choose(12)) {
    case 0:
    case 1:
      editSources(project.folder, choose, originals);
      return;
    case 2: {
      const keys = ['', ', title: One', ', version: 2.0.0', ', templates: own'][choose(4)] ?? '';
      const config = project.read('fw.config.yaml').replace(/src\/migrations.*\}/, `src/migrations${keys} }`);
      project.write('fw.config.yaml', config);
      return;
    }
    case 3:
      project.write('own/per-model/{name}-note.ts.hbs', `// {{{name}}}, ${choose(3)}\nexport {};\n`);
      return;
    case 4:
      if (output === undefined) return;
      project.write(
        output,
        choose(2) === 0 ? crlf(project.read(output)) : `${project.read(output)}// mine\n`,
      );
      return;
    case 5:
      if (output !== undefined) project.remove(output);
      return;
    case 6:
      if (cached !== undefined) project.write(cached, project.read(cached).slice(0, choose(2_000)));
      return;
    case 7:
      project.remove(choose(2) === 0 ? 'src/generated/.fw-manifest.json' : 'src/generated/.fw-cache');
      return;
    default:
      editBody(project.folder, choose);
  }
}

/** Line ends of some checkouts. */
function crlf(text: string): string {
  return text.replaceAll('\n', '\r\n');
}

function timeless({ info, ...ran }: Ran): Ran {
  return { ...ran, info: info.replace(/\d+ ms$/, 'n ms') };
}

/** Returns the output of a cold run for the same inputs in another folder. */
async function generatedElsewhere(): Promise<Readonly<Record<string, string>>> {
  const copy = testProject('handlers');
  rmSync(copy.folder, { recursive: true });
  cpSync(project.folder, copy.folder, { recursive: true });
  copy.remove('src/generated');
  const { code, error } = await fwGen('generate', '--no-cache', '--config', copy.config);
  const emitted = copy.emitted();
  copy.delete();
  expect({ code, error }).toEqual({ code: 0, error: '' });
  return emitted;
}

test(`${CHANGES} changes of anything with a run after each keep the output what a cold run gives elsewhere (FUZZ_SEED=${seed})`, async () => {
  const originals = textsOf(project.folder);
  const choose = chooserFrom(seed);
  await generate();
  for (let count = 0; count < CHANGES; count += 1) {
    changeAnything(choose, originals);
    expect({ count, ...timeless(await generate('--check')) }).toEqual({ count, ...timeless(await check()) });
    const first = await generate();
    const { code, error } = first.error.includes('FWGEN041') ? await generate('--force') : first;
    const cold = await quietCheck();
    expect({ count, code, error }).toEqual({ count, code: cold.code, error: cold.error });
    if (code === 0)
      expect({ count, ...project.emitted() }).toEqual({ count, ...(await generatedElsewhere()) });
    // Mistakes would hide most of what follows.
    else {
      restoreSources(project.folder, originals);
      // Only the manifest shows that a file of a user's template belongs to fw-gen, and the next change may remove it.
      await generate();
    }
  }
}, 120_000);

test('texts that change within a tick of the clock count as changed', async () => {
  project.write('src/models/extra.ts', modelText('Extra', 'fieldA'));
  await generate();
  for (const name of ['fieldB', 'fieldC', 'fieldD', 'fieldE', 'fieldF', 'fieldG']) {
    project.write('src/models/extra.ts', modelText('Extra', name));
    await generate();
    expect(project.read('src/generated/extra.ts')).toContain(`${name}(`);
  }
});

test('a file that may change again without a new timestamp is identified by its text', async () => {
  const path = 'src/models/extra.ts';
  project.write(path, modelText('Extra'));
  const later = new Date(Date.now() + 3_600_000);
  utimesSync(join(project.folder, path), later, later);
  await generate();
  expect(JSON.parse(project.read(STATE))).toMatchObject({
    inputs: { [path]: ['?', expect.stringMatching(/./)] },
  });
});

test('a source that changes while a run compares the output is read by the next run', async () => {
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

test('the cache of another configuration with the same output is not used', async () => {
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

describe('a first migration that a run has written', () => {
  test('is not emitted for again by the next run', async () => {
    await generate();
    expect((await generate('--timing')).info).not.toContain('emit');
    project.write('src/models/extra.ts', modelText('Extra'));
    expect((await generate()).info).toMatch(/^\d+ files written/);
    const before = project.emitted();
    const { info, code, error } = await generate('--timing', '--verify-cache');
    expect({ code, error }).toEqual({ code: 0, error: '' });
    expect(info).toMatch(/^0 files written/);
    expect(project.emitted()).toEqual(before);
    expect((await generate('--timing')).info).not.toContain('emit');
  });

  test('is read again when it is edited or deleted before the next run', async () => {
    project.write('src/models/extra.ts', modelText('Extra'));
    await generate();
    const migrations = (): readonly string[] =>
      Object.keys(project.emitted()).filter((path) => path.includes('create_extra'));
    const [path = ''] = migrations();
    project.write(path, project.read(path).replace('create table extras', 'create table others'));
    await generate();
    expect(migrations()).toHaveLength(2);
    for (const each of migrations()) project.remove(each);
    await generate();
    expect(migrations()).toHaveLength(1);
    expect((await check()).code).toBe(0);
  });
});

test('locks are inputs, also of the run that writes one of them', async () => {
  const inputs = (): readonly string[] => Object.keys(JSON.parse(project.read(STATE)).inputs);
  const locks = ['src/migrations/events.lock', 'src/migrations/params.lock'];
  await generate();
  expect(inputs()).toEqual(expect.arrayContaining(locks));
  expect((await generate('--timing')).info).not.toContain('emit');
  expect(inputs()).toEqual(expect.arrayContaining(locks));
});

test('a deleted output file is written again, although no source changed', async () => {
  await generate();
  await generate();
  const before = project.emitted();
  project.remove('src/generated/order.ts');
  expect((await generate()).info).toMatch(/^1 file written/);
  expect(project.emitted()).toEqual(before);
});

test('members that another file adds to an interface are added and removed with that file', async () => {
  const columns = (): readonly string[] => project.read('src/generated/extra.ts').match(/added\d/g) ?? [];
  const adding = (name: string): string =>
    `export {};\ndeclare module './place.js' {\n  interface Place { readonly ${name}: string }\n}\n`;
  project.write('src/models/place.ts', 'export interface Place { readonly street: string }\n');
  project.write(
    'src/models/extra.ts',
    modelText('Extra').replace('readonly title!: string', "readonly title!: import('./place.js').Place"),
  );
  await generate();
  expect(columns()).toEqual([]);
  project.write('src/models/floor.ts', adding('added1'));
  await generate();
  expect(columns()).toEqual(['added1']);
  project.write('src/models/country.d.ts', adding('added2'));
  project.write('src/models/floor.ts', adding('added3'));
  await generate();
  expect(columns()).toEqual(['added2', 'added3']);
  // Neither of them, nor the interface, is read again.
  project.write('src/models/extra.ts', `// A line more.\n${project.read('src/models/extra.ts')}`);
  expect(await generate('--verify-cache')).toMatchObject({ code: 0, error: '' });
  expect(columns()).toEqual(['added2', 'added3']);
  project.write(
    'src/models/other.ts',
    modelText('Other').replace('readonly title!: string', "readonly title!: import('./place.js').Place"),
  );
  await generate();
  expect(project.read('src/generated/other.ts').match(/added\d/g)).toEqual(['added2', 'added3']);
  project.remove('src/models/country.d.ts');
  await generate();
  expect(columns()).toEqual(['added3']);
  expect((await check()).code).toBe(0);
});

test('a deleted manifest is written again, although --check found every file up to date', async () => {
  await generate();
  await generate();
  const before = project.emitted();
  project.remove('src/generated/.fw-manifest.json');
  expect((await generate('--check')).code).toBe(0);
  await generate();
  expect(project.emitted()).toEqual(before);
});

describe('a cache that is', () => {
  const cut = (path: string): void => {
    const text = project.read(path);
    project.write(path, text.slice(0, text.length / 2));
  };
  const changeTexts = (change: (text: string) => string): void => {
    const names = readdirSync(join(project.folder, CACHE)).filter((each) => each.startsWith('texts-'));
    for (const name of names) project.write(`${CACHE}/${name}`, change(project.read(`${CACHE}/${name}`)));
  };

  test.each<readonly [string, () => void]>([
    ['cut off', () => cut(STATE)],
    ['without a half of its results', () => cut(RESULTS)],
    ['without results', () => project.remove(RESULTS)],
    ['without what was found', () => changeTexts(() => '')],
    ['with a half of what was found', () => changeTexts((text) => text.slice(0, text.length / 2))],
    ['with something else than was found', () => changeTexts((text) => text.replaceAll('"', "'"))],
    ['of another format', () => project.write(STATE, '{"format":1,"states":{}}')],
    ['no object', () => project.write(STATE, 'null')],
    ['full of other things', () => project.write(STATE, project.read(STATE).replaceAll('["', '[["'))],
    [
      'of another program',
      () => project.write(STATE, project.read(STATE).replace('"program":"', '"program":"x')),
    ],
    ['of another run', () => project.write(STATE, project.read(STATE).replace('"run":"', '"run":"x'))],
    ['not text', () => writeFileSync(join(project.folder, RESULTS), Buffer.from([0xff, 0, 0xfe]))],
  ])('%s is not a mistake', async (_what, damage) => {
    await generate();
    damage();
    project.write('src/models/extra.ts', modelText('Extra'));
    expect(await generate()).toMatchObject({ code: 0, error: '' });
    expect((await check()).code).toBe(0);
  });

  test('is still valid after the project was moved', async () => {
    await generate();
    const copy = testProject('handlers');
    cpSync(join(project.folder, CACHE), join(copy.folder, CACHE), { recursive: true });
    const { code } = await fwGen('generate', '--config', copy.config);
    const emitted = copy.emitted();
    copy.delete();
    expect({ code, emitted }).toEqual({ code: 0, emitted: project.emitted() });
  });
});

test('a cache that names files elsewhere neither reads nor writes them', async () => {
  await generate();
  await generate();
  project.write('mine.txt', 'mine');
  const state = JSON.parse(project.read(STATE));
  state.texts.name = '../../../mine.txt';
  project.write(STATE, JSON.stringify(state));
  // No stored text is needed any more, and new ones are added.
  project.write('src/notes.ts', 'export {};\n');
  expect(await generate()).toMatchObject({ code: 0, error: '' });
  expect(project.read('mine.txt')).toBe('mine');
  expect((await check()).code).toBe(0);
});

describe('--verify-cache', () => {
  test('finds nothing in an unmodified cache', async () => {
    await generate();
    expect(await generate('--verify-cache')).toMatchObject({ code: 0, error: '' });
    project.write('src/models/extra.ts', modelText('Extra'));
    expect(await generate('--verify-cache')).toMatchObject({ code: 0, error: '' });
  });

  /** Changes the texts of results so that all hashes are right; each keeps its length. */
  function tamper(change: (text: string) => string): void {
    const name = readdirSync(join(project.folder, CACHE)).find((each) => each.startsWith('texts-')) ?? '';
    let texts = change(project.read(`${CACHE}/${name}`));
    const withHashes = (text: string): string =>
      text.replace(/(?<=^|"fields":")(\d+)\.(\d+)\.[\w-]{16}/g, (_all, offset: string, length: string) => {
        const stored = texts.slice(Number(offset), Number(offset) + Number(length));
        return `${offset}.${length}.${contentHash(stored).slice(0, 16)}`;
      });
    // Fields are stored before the text that contains their place.
    texts = withHashes(texts);
    project.write(`${CACHE}/${name}`, texts);
    const lines = project.read(RESULTS).split('\n');
    const list = lines.slice(4).map(withHashes);
    const body = list.join('\n');
    project.write(RESULTS, [...lines.slice(0, 3), contentHash(body), body].join('\n'));
  }

  test('finds an outline that differs from the sources', async () => {
    await generate();
    await sleep(80);
    await generate();
    const lines = project.read(RESULTS).split('\n');
    const body = lines.slice(4).join('\n').replace('"sharded":true', '"sharded":false');
    project.write(RESULTS, [...lines.slice(0, 3), contentHash(body), body].join('\n'));
    expect((await generate('--verify-cache')).error).toContain('The cached outline of the project differs');
  });

  test.each([
    ['fields', '"optional":false', '"optional":true '],
    ['results', '"resultNullable":false', '"resultNullable":true '],
  ])('finds %s that differ from the sources', async (_what, from, to) => {
    await generate();
    tamper((text) => text.replaceAll(from, to));
    const { code, error } = await generate('--verify-cache');
    expect(code).toBe(3);
    expect(error).toContain('The cache differs from a fresh run for src/');
  });
});
