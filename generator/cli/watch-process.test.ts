import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type BuiltProgram, buildProgram } from '../test-support/built-program.js';
import { fwGen } from '../test-support/fw-gen.js';
import { modelText, type TestProject, testProject } from '../test-support/projects.js';

const DEADLINE_MS = 60_000;
const HOOK_MS = 120_000;
/** Enough to make a checkout more than one event. */
const MANY = 60;

let program: BuiltProgram;
let project: TestProject;
let watching: ChildProcess;
let shown: string;

beforeAll(() => {
  program = buildProgram();
}, HOOK_MS);

afterAll(() => program.delete());

beforeEach(async () => {
  project = testProject();
  shown = '';
  const args = [program.bin, 'generate', '--watch', '--config', project.config];
  watching = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [watching.stdout, watching.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
    });
  }
  await until(() => emits('order'));
}, HOOK_MS);

afterEach(async () => {
  if (watching.exitCode === null) {
    const ended = once(watching, 'exit');
    watching.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
  }
  project.delete();
}, HOOK_MS);

async function until(isTrue: () => boolean): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  while (!isTrue()) {
    if (Date.now() > deadline) throw new Error(`Timed out.\n${shown}`);
    await sleep(20);
  }
}

function emits(...names: readonly string[]): boolean {
  const emitted = project.emitted();
  return names.every((name) => `src/generated/${name}.ts` in emitted);
}

/** Whether a run that knows nothing finds nothing to do; it may come in between two files of the watching one. */
async function untilRight(): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const { code, info, error } = await fwGen(
      'generate',
      '--config',
      project.config,
      '--check',
      '--no-cache',
    );
    if (code === 0) return;
    if (Date.now() > deadline) throw new Error(`${info}\n${error}\n${shown}`);
    await sleep(50);
  }
}

function git(...args: readonly string[]): void {
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'commit.gpgsign=false'];
  execFileSync('git', [...identity, ...args], { cwd: project.folder, stdio: 'pipe' });
}

test('--watch follows a switch between branches that changes many files at once, there and back', async () => {
  git('init', '--quiet', '--initial-branch', 'main');
  // The output is made, not switched: that is what the watching process is there for.
  project.write('.gitignore', 'src/generated/\n');
  git('add', '.');
  git('commit', '--quiet', '-m', 'one');
  git('checkout', '--quiet', '-b', 'many');
  const names = Array.from({ length: MANY }, (_none, index) => `Extra${index}`);
  for (const name of names) project.write(`src/models/${name.toLowerCase()}.ts`, modelText(name));
  await until(() => emits(...names.map((name) => name.toLowerCase())));
  git('add', '.');
  git('commit', '--quiet', '-m', 'many');
  git('checkout', '--quiet', 'main');
  await until(() => !emits('extra0') && !emits(`extra${MANY - 1}`));
  await untilRight();
  git('checkout', '--quiet', 'many');
  await until(() => emits(...names.map((name) => name.toLowerCase())));
  await untilRight();
}, 240_000);

test('--watch follows a folder that gets another name', async () => {
  project.write('src/kept/extra.ts', modelText('Extra'));
  await until(() => emits('extra'));
  renameSync(join(project.folder, 'src/kept'), join(project.folder, 'src/moved'));
  await until(() => project.emitted()['src/generated/extra.ts']?.includes('../moved/extra.js') === true);
  await untilRight();
}, 120_000);

test('--watch ends with a signal, and a run after it finds nothing to do', async () => {
  project.write('src/models/extra.ts', modelText('Extra'));
  await until(() => emits('extra'));
  await untilRight();
  const ended = once(watching, 'exit');
  watching.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
}, 120_000);
