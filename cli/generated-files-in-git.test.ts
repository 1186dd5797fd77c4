import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { fwGen } from '../generator/test-support/fw-gen.js';
import { modelText, projectPerTest } from '../generator/test-support/projects.js';
import { temporaryFolder } from '../runtime/config/test-support/temporary-folder.js';
import { projectFiles } from './init/project-files.js';
import { git as gitIn } from './test-support/git.js';

const ORDER = 'src/generated/order.ts';
const project = projectPerTest();
const { generate } = project;

beforeEach(async () => {
  expect((await generate()).code).toBe(0);
});

const git = (...args: readonly string[]): string => gitIn(project.folder, ...args);

function commit(): void {
  git('add', '--all');
  git('commit', '--quiet', '--message', 'Change');
}

/** Checks all files out again with CRLF, as Git for Windows does by default. */
function checkOutWithCrlf(): void {
  git('init', '--quiet', '--initial-branch=main');
  commit();
  git('config', 'core.autocrlf', 'true');
  git('rm', '--quiet', '--cached', '-r', '.');
  git('reset', '--quiet', '--hard');
  expect(project.read(ORDER)).toContain('\r\n');
}

test('a checkout with CRLF is up to date, and a change is shown without the lines that differ by their ends', async () => {
  checkOutWithCrlf();
  expect(await generate('--check')).toMatchObject({ code: 0, error: '' });
  const order = project.read('src/models/order.ts');
  project.write(
    'src/models/order.ts',
    order.replace('readonly isGift', 'readonly isPresent!: boolean;\r\n  readonly isGift'),
  );
  const { code, info } = await generate('--check');
  expect(code).toBe(1);
  const removed = info.split('\n').filter((line) => /^-(?!--)/.test(line));
  const added = info.split('\n').filter((line) => /^\+(?!\+\+)/.test(line));
  expect(added.length).toBeGreaterThan(0);
  expect(added.length).toBeLessThan(30);
  expect(added.filter((line) => removed.includes(`-${line.slice(1)}`))).toEqual([]);
});

/** Makes a branch from `main` on which a model is added. */
async function branchWithModel(name: string, change?: () => void): Promise<void> {
  git('checkout', '--quiet', '-b', name.toLowerCase(), 'main');
  project.write(`src/models/${name.toLowerCase()}.ts`, modelText(name));
  change?.();
  expect((await generate()).code).toBe(0);
  commit();
}

function startWithAttributes(): void {
  const files = projectFiles({ name: 'x', frameworkRange: '^1.0.0', token: 't', databasePassword: 'p' });
  project.write('.gitattributes', files.get('.gitattributes') ?? '');
  git('init', '--quiet', '--initial-branch=main');
  commit();
}

test.each([
  ['Beta', 'Alpha'],
  ['Alpha', 'Zeta'],
])('branches that add %s and %s are merged without a conflict', async (first, second) => {
  startWithAttributes();
  await branchWithModel(first);
  await branchWithModel(second);
  git('merge', '--quiet', '--no-edit', first.toLowerCase());
  const application = project.read('src/generated/application.ts');
  for (const name of [first, second]) {
    expect(application).toContain(`    ${name.toLowerCase()}Part,\n`);
    expect(application).toContain(`'./${name.toLowerCase()}.part.js'`);
  }
  // The lines of a merge may have another order.
  expect((await generate()).error).not.toContain('FWGEN');
  expect((await generate('--check')).code).toBe(0);
});

test('without a .gitattributes, branches that add models at different places share no file but the manifest', async () => {
  git('init', '--quiet', '--initial-branch=main');
  commit();
  await branchWithModel('Alpha');
  await branchWithModel('Zeta');
  expect(() => git('merge', '--quiet', 'alpha')).toThrow();
  const conflicts = git('diff', '--name-only', '--diff-filter=U').trim().split('\n');
  expect(conflicts).toEqual(['src/generated/.fw-manifest.json']);
  expect((await generate()).error).not.toContain('FWGEN');
  expect((await generate('--check')).code).toBe(0);
});

test('with the .gitattributes of init, a merge leaves files of one side, which generate brings up to date', async () => {
  startWithAttributes();
  for (const [branch, field] of [
    ['Alpha', 'customerId'],
    ['Beta', 'weight'],
  ] as const) {
    await branchWithModel(branch, () => {
      const name = branch.toLowerCase();
      const order = project.read('src/models/order.ts');
      const added = `  /** By ${name}. */\n  readonly ${name}?: string;\n  readonly ${field}`;
      project.write('src/models/order.ts', order.replace(`  readonly ${field}`, added));
    });
  }
  expect(() => git('merge', '--quiet', 'alpha')).toThrow();
  const conflicts = git('diff', '--name-only', '--diff-filter=U').trim().split('\n');
  expect(conflicts).toEqual([ORDER]);
  expect(project.read(ORDER)).not.toContain('<<<<<<<');
  expect((await generate()).error).not.toContain('FWGEN');
  expect((await generate('--check')).code).toBe(0);
  for (const name of ['alpha', 'beta']) expect(project.read(ORDER)).toContain(`put('${name}'`);
});

test('the formatter of a new project leaves generated files alone', async () => {
  const folder = temporaryFolder(onTestFinished);
  expect((await fwGen('init', folder, '--yes')).code).toBe(0);
  const config = join(folder, 'fw.config.yaml');
  expect((await fwGen('generate', '--config', config)).code).toBe(0);
  const biome = join(process.cwd(), 'node_modules/.bin/biome');
  const style = ['--indent-style=tab', '--line-width=40'];
  execFileSync(biome, ['format', '--write', ...style], { cwd: folder, stdio: 'pipe' });
  expect((await fwGen('generate', '--check', '--config', config)).code).toBe(0);
});
