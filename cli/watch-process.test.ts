import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type BuiltProgram, copyProgram } from '../generator/test-support/built-program.js';
import { modelText, projectPerTest } from '../generator/test-support/projects.js';
import { git as gitIn } from './test-support/git.js';

const DEADLINE_MS = 60_000;
const HOOK_MS = 120_000;
/** Enough files for a checkout to cause several events. */
const MANY = 60;

let program: BuiltProgram;
const project = projectPerTest();
let watching: ChildProcess;
let shown: string;

beforeAll(() => {
  program = copyProgram();
}, HOOK_MS);

afterAll(() => program.delete());

beforeEach(async () => {
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

/** Whether a separate run finds nothing to do. It may run while the watching one writes. */
async function untilRight(): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const { code, info, error } = await project.generate('--check');
    if (code === 0) return;
    if (Date.now() > deadline) throw new Error(`${info}\n${error}\n${shown}`);
    await sleep(50);
  }
}

const git = (...args: readonly string[]): string => gitIn(project.folder, ...args);

test('--watch follows a switch between branches that changes many files at once, there and back', async () => {
  git('init', '--quiet', '--initial-branch', 'main');
  // The output is ignored by Git, because the watching process generates it.
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

test('--watch ends with a signal, and the next run finds nothing to do', async () => {
  project.write('src/models/extra.ts', modelText('Extra'));
  await until(() => emits('extra'));
  await untilRight();
  const ended = once(watching, 'exit');
  watching.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
}, 120_000);
