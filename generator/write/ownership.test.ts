import { beforeEach, describe, expect, test } from 'vitest';
import { modelText, projectPerTest } from '../test-support/projects.js';

const MANIFEST = 'src/generated/.fw-manifest.json';
const ORDER = 'src/generated/order.ts';
const project = projectPerTest();
const { generate } = project;

beforeEach(async () => {
  expect((await generate()).code).toBe(0);
});

function addModel(): void {
  project.write('src/models/extra.ts', modelText('Extra'));
}

test('the manifest lists every generated file, and a second run does not change it', async () => {
  const manifest = project.read(MANIFEST);
  const names = 'application customer.part customer order.part order server versions'.split(' ');
  expect(Object.keys(JSON.parse(manifest).files)).toEqual(names.map((name) => `${name}.ts`));
  await generate();
  expect(project.read(MANIFEST)).toBe(manifest);
});

describe('a manually edited file', () => {
  beforeEach(() => project.write(ORDER, `${project.read(ORDER)}// mine\n`));

  test('is refused, and no other file is written', async () => {
    addModel();
    const before = project.emitted();
    const { code, error } = await generate();
    expect({ code, reported: error.includes(`${ORDER} FWGEN041`) }).toEqual({ code: 2, reported: true });
    expect(project.emitted()).toEqual(before);
  });

  test('is replaced with --force', async () => {
    expect((await generate('--force')).code).toBe(0);
    expect(project.read(ORDER)).not.toContain('// mine');
    expect((await generate('--check')).code).toBe(0);
  });

  test('is not deleted when its source is removed', async () => {
    addModel();
    await generate('--force');
    project.write('src/generated/extra.ts', `${project.read('src/generated/extra.ts')}// mine\n`);
    project.remove('src/models/extra.ts');
    project.remove('src/migrations/names.lock');
    expect((await generate()).error).toContain('src/generated/extra.ts FWGEN041');
    expect(project.read('src/generated/extra.ts')).toContain('// mine');
  });
});

test('a manifest that was not committed with the files is stale: their next change would look like an edit', async () => {
  const manifest = project.read(MANIFEST);
  project.write('src/models/customer.ts', project.read('src/models/customer.ts').replace('name!', 'nick!'));
  await project.generate();
  const current = project.read(MANIFEST);
  project.write(MANIFEST, manifest);
  for (const flag of ['--check', '--dry-run'])
    expect((await project.generate(flag)).info).toContain(MANIFEST);
  expect((await project.generate('--check')).code).toBe(1);
  expect((await project.generate()).code).toBe(0);
  expect(project.read(MANIFEST)).toBe(current);
  expect((await project.generate('--check')).code).toBe(0);
});

describe('without the manifest', () => {
  beforeEach(() => project.remove(MANIFEST));

  test('--check reports it, and the next run writes it', async () => {
    const { code, info, error } = await generate('--check');
    expect({ code, reported: `${info}${error}`.includes(MANIFEST) }).toEqual({ code: 1, reported: true });
    expect((await generate()).code).toBe(0);
    expect((await generate('--check')).code).toBe(0);
    expect(project.read(MANIFEST)).toContain('order.ts');
  });

  test('a file that differs is refused, and replaced with --force', async () => {
    project.write(ORDER, `${project.read(ORDER)}// mine\n`);
    const { code, error } = await generate();
    expect({ code, reported: error.includes(`${ORDER} FWGEN041`) }).toEqual({ code: 2, reported: true });
    expect(project.read(ORDER)).toContain('// mine');
    expect((await generate('--force')).code).toBe(0);
    expect(project.read(ORDER)).not.toContain('// mine');
  });

  test('a file whose source is gone is refused', async () => {
    project.write('src/generated/extra.ts', project.read(ORDER));
    expect((await generate()).error).toContain('src/generated/extra.ts FWGEN041');
  });
});

test('line ends that a checkout changed do not count as an edit, and a change replaces them', async () => {
  const text = project.read(ORDER);
  const other = text.replaceAll('\n', '\r\n');
  project.write(ORDER, other);
  expect((await generate()).code).toBe(0);
  expect(project.read(ORDER)).toBe(other);
  project.write(ORDER, `${other}// mine\r\n`);
  expect((await generate()).error).toContain(`${ORDER} FWGEN041`);
  project.write(ORDER, other);
  const model = project.read('src/models/order.ts');
  project.write(
    'src/models/order.ts',
    model.replace('readonly isGift', 'readonly extraNote?: string;\n  readonly isGift'),
  );
  expect((await generate()).code).toBe(0);
  expect(project.read(ORDER)).toContain('extraNote');
  expect(project.read(ORDER)).not.toContain('\r');
});

test('a file with our header that no run wrote stays', async () => {
  project.write('src/generated/copy.ts', project.read(ORDER));
  expect((await generate()).code).toBe(0);
  expect(project.read('src/generated/copy.ts')).toBe(project.read(ORDER));
});

test('files outside the output folder that a manifest names are not touched, nor is it itself', async () => {
  project.write('src/mine.ts', 'export {};\n');
  const manifest = JSON.parse(project.read(MANIFEST));
  for (const name of ['../mine.ts', '.fw-manifest.json']) manifest.files[name] = '0'.repeat(64);
  for (const options of [[], ['--force']]) {
    project.write(MANIFEST, JSON.stringify(manifest, undefined, 2));
    expect((await generate(...options)).code).toBe(0);
  }
  expect(project.read('src/mine.ts')).toBe('export {};\n');
});

describe('after a merge conflict', () => {
  const conflict = (ours: string, theirs: string): string =>
    `<<<<<<< HEAD\n${ours}=======\n${theirs}>>>>>>> other\n`;

  test('files with markers are generated again', async () => {
    const before = project.emitted();
    for (const path of [ORDER, 'src/generated/application.ts', MANIFEST]) {
      project.write(path, conflict(project.read(path), project.read(path).replaceAll('e', 'E')));
    }
    expect((await generate()).error).toBe('');
    expect(project.emitted()).toEqual(before);
  });

  test('a wrongly merged file is generated again if its manifest line is in conflict', async () => {
    const before = project.emitted();
    project.write(ORDER, `${project.read(ORDER)}export const fromTheOtherBranch = 1;\n`);
    const line = /^ {4}"order.ts": .*\n/m.exec(project.read(MANIFEST))?.[0] ?? '';
    project.write(
      MANIFEST,
      project.read(MANIFEST).replace(line, conflict(line, line.replace(/[0-9]/g, '7'))),
    );
    expect((await generate()).error).toBe('');
    expect(project.emitted()).toEqual(before);
  });
});
