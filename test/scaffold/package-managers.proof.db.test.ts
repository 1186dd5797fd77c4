import { execFile } from 'node:child_process';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../runtime/config/test-support/temporary-folder.js';
import { type NewProjectFolder, newProject, QUIETLY } from './new-project.js';
import { listening, type Program } from './program.js';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const run = promisify(execFile);
const MANAGERS = ['pnpm@10.34.9', '@yarnpkg/cli-dist@4.18.1'];

const tools = temporaryFolder();
let project: NewProjectFolder;
let env: NodeJS.ProcessEnv;
const programs: Program[] = [];

beforeAll(async () => {
  await run('npm', ['install', ...QUIETLY, ...MANAGERS], { cwd: tools });
  const commands = join(tools, 'node_modules', '.bin');
  env = { ...process.env, PATH: `${commands}${delimiter}${process.env['PATH'] ?? ''}` };
  project = await newProject();
});

afterAll(async () => {
  await Promise.all(programs.map((each) => each.end()));
  project?.remove();
});

/** Installs, tests and starts a new project, and writes a note. */
async function used(manager: string, install: readonly (readonly string[])[]): Promise<string> {
  const folder = join(project.home, manager);
  cpSync(project.folder, folder, { recursive: true });
  // Yarn would take the folder for a part of a project above it.
  if (manager === 'yarn') writeFileSync(join(folder, 'yarn.lock'), '');
  for (const args of install) await run(manager, args, { cwd: folder, env });
  const tested = await run(manager, ['test'], { cwd: folder, env });
  expect(tested.stdout).toMatch(/^# pass 3$/m);
  expect(tested.stdout).toMatch(/^# fail 0$/m);
  const program = await listening([manager, 'start', '--port', '0'], { cwd: folder, env });
  programs.push(program);
  const answer = await fetch(`${program.url}/notes`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${readFileSync(join(folder, '.dev-token'), 'utf8').trim()}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ text: `Written under ${manager}` }),
  });
  expect(answer.status).toBe(201);
  expect(await answer.json()).toMatchObject({ text: `Written under ${manager}`, state: 'OPEN', version: 1 });
  return folder;
}

test('a new project is tested and serves under pnpm, which hides packages that are not declared', async () => {
  const folder = await used('pnpm', [['install', '--no-frozen-lockfile']]);
  expect(existsSync(join(folder, 'node_modules', 'pg'))).toBe(false);
});

test('a new project is tested and serves under Yarn without a node_modules folder', async () => {
  // The compiler of TypeScript 7 does not read archives; Yarn adapts that of 5.9.
  const folder = await used('yarn', [
    ['install', '--no-immutable'],
    ['add', '--dev', 'typescript@~5.9'],
  ]);
  expect(existsSync(join(folder, '.pnp.cjs'))).toBe(true);
  expect(existsSync(join(folder, 'node_modules'))).toBe(false);
});
