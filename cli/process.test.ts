import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type BuiltProgram, copyProgram } from '../generator/test-support/built-program.js';
import { modelText, projectPerTest } from '../generator/test-support/projects.js';
import { temporaryFolder } from '../runtime/config/test-support/temporary-folder.js';

const repository = fileURLToPath(new URL('..', import.meta.url));
let program: BuiltProgram;
const tools = temporaryFolder();
const project = projectPerTest();

beforeAll(() => {
  program = copyProgram();
});

afterAll(() => program.delete());

afterEach(() => vi.unstubAllEnvs());

function fwGen(...argv: readonly string[]): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, [program.bin, ...argv, '--config', project.config], {
    encoding: 'utf8',
  });
}

/** The same with a preloaded module. */
function fwGenWith(preload: string, ...argv: readonly string[]): SpawnSyncReturns<string> {
  const file = join(tools, 'preload.mjs');
  writeFileSync(file, preload);
  const args = ['--import', file, program.bin, ...argv, '--config', project.config];
  return spawnSync(process.execPath, args, { encoding: 'utf8' });
}

/** Makes the sources older than the run, as in a real project. */
function age(): void {
  const past = new Date(Date.now() - 60_000);
  for (const entry of readdirSync(project.folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) utimesSync(join(entry.parentPath, entry.name), past, past);
  }
}

describe('an unchanged run', () => {
  const SHOW_LOADED = `import { register } from 'node:module';
const hook = 'export async function load(url, context, next) { process._rawDebug("LOADED " + url); return next(url, context); }';
register('data:text/javascript,' + encodeURIComponent(hook));`;

  async function rightProject(): Promise<void> {
    expect(fwGen('generate').status).toBe(0);
    age();
    await sleep(80);
    expect(fwGen('generate').status).toBe(0);
  }

  test('loads only small modules', async () => {
    await rightProject();
    const { stdout, stderr } = fwGenWith(SHOW_LOADED, 'generate');
    expect(stdout).toMatch(/^0 files written, 7 unchanged, \d+ ms\n$/);
    const loaded = stderr
      .split('\n')
      .filter((line) => line.startsWith('LOADED file:'))
      .map((line) => line.slice(line.lastIndexOf('/') + 1));
    expect(loaded).toEqual(['fw-gen.js', 'main.js', 'stamp.js', 'standard-streams.js', 'exit.js']);
  });

  test('repeats the warnings of the run before', async () => {
    const action = `import { Action } from 'fw-actions';

export class ForgottenAction extends Action<void, void> {
  protected perform(): void {}
}
`;
    project.write('src/forgotten.ts', action);
    await rightProject();
    const { stdout, stderr } = fwGenWith(SHOW_LOADED, 'generate');
    expect(stdout).toMatch(/^0 files written, 7 unchanged, \d+ ms\n$/);
    expect(stderr).not.toContain('read-project');
    expect(stderr).toContain('Warning: src/forgotten.ts:3:14 FWGEN065 ForgottenAction extends Action');
    expect(fwGen('generate', '--quiet').stderr).toBe('');
  });

  test('is none right after a change, because another one could have the same time', () => {
    project.write('src/models/extra.ts', modelText('Extra'));
    expect(fwGen('generate').status).toBe(0);
    expect(fwGenWith(SHOW_LOADED, 'generate').stderr).toContain('read-project');
  });

  test('is none if a setting of the generator comes from the environment', async () => {
    const config = project.read('fw.config.yaml');
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference is written like this in YAML.
    const titled = config.replace('generator: {', 'generator: { title: "${TITLE}", ');
    project.write('fw.config.yaml', titled);
    vi.stubEnv('TITLE', 'One');
    await rightProject();
    expect(fwGen('generate', '--check').status).toBe(0);
    vi.stubEnv('TITLE', 'Two');
    expect(fwGen('generate', '--check').status).toBe(1);
  });

  /** Sources that do not import emitted files, with another output folder. */
  function placeOutput(output: string): void {
    project.remove('src');
    project.write('src/order.ts', modelText('Order'));
    const config = project.read('fw.config.yaml');
    project.write('fw.config.yaml', config.replace('output: src/generated', output));
  }

  test('is none of another output folder that the environment names', async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference is written like this in YAML.
    placeOutput('\n    output: "${FOLDER}"');
    vi.stubEnv('FOLDER', 'generated');
    await rightProject();
    await sleep(80);
    expect(fwGen('generate').status).toBe(0);
    vi.stubEnv('FOLDER', 'elsewhere');
    expect(fwGen('generate', '--check').status).toBe(1);
  });

  test('is not an unchanged run if a source, an emitted file, the manifest or the configuration has changed', async () => {
    await rightProject();
    const changes = [
      () => project.write('src/models/extra.ts', modelText('Extra')),
      () => project.remove('src/generated/order.ts'),
      () => project.remove('src/generated/.fw-manifest.json'),
      () => project.write('fw.config.yaml', `${project.read('fw.config.yaml')}\n`),
    ];
    for (const change of changes) {
      change();
      expect(fwGenWith(SHOW_LOADED, 'generate').stderr).toContain('read-project');
      age();
      await sleep(80);
      expect(fwGen('generate').status).toBe(0);
    }
    expect(fwGenWith(SHOW_LOADED, 'generate').stderr).not.toContain('read-project');
  });
});

test('the documented session equals the terminal output', () => {
  const page = readFileSync(join(repository, 'docs/fw-gen.md'), 'utf8');
  const [, session = ''] = /```console\n(.*?)```/s.exec(page) ?? [];
  const folder = mkdtempSync(join(tools, 'session-'));
  let directory = folder;
  let shown = '';
  for (const [, line = ''] of session.matchAll(/^\$ (.*)$/gm)) {
    shown += `$ ${line}\n`;
    const [command, ...args] = line.split(' ');
    if (command === 'cd') directory = join(directory, args[0] ?? '');
    else
      shown += spawnSync(process.execPath, [program.bin, ...args], {
        cwd: directory,
        encoding: 'utf8',
      }).stdout;
  }
  // Times differ, and each project has its own token.
  const alike = (text: string): string =>
    text.replace(/\d+ ms/g, 'n ms').replace(/Bearer [\w.-]+/g, 'Bearer token');
  expect(alike(shown)).toBe(alike(session));
});

test('concurrent runs do not mix their files', async () => {
  const runs = Array.from({ length: 4 }, () =>
    spawn(process.execPath, [program.bin, 'generate', '--config', project.config]),
  );
  const codes = await Promise.all(runs.map((run) => new Promise((resolve) => run.on('exit', resolve))));
  expect(codes).toEqual([0, 0, 0, 0]);
  expect(fwGen('generate', '--check').status).toBe(0);
});
