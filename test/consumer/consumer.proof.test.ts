import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blocks } from '../../docs/pages.js';
import { temporaryFolder } from '../../runtime/config/test-support/temporary-folder.js';
import { type Answer, post } from '../customer/http-client.js';
import { packInto, QUIETLY } from '../scaffold/new-project.js';
import { listening, type Program } from '../scaffold/program.js';
import { nodeVersions } from './node-versions.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const project = fileURLToPath(new URL('./project', import.meta.url));
/** The complete files that the page shows. */
const pageFiles = blocks.flatMap(({ page, from, code }) =>
  page === 'docs/getting-started.md' && from !== undefined
    ? [[from.replace('test/consumer/project/', ''), code] as const]
    : [],
);
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const run = promisify(execFile);

/** The package as users get it: packed, installed into an empty folder, generated, compiled strictly and run. */
describe('a project that installs the package', () => {
  const folder = temporaryFolder();

  beforeAll(async () => {
    for (const [path, code] of pageFiles) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), code);
    }
    const others = ['@types/node', '@electric-sql/pglite'].map((name) => `${name}@${ownVersionOf(name)}`);
    await run('npm', ['install', ...QUIETLY, await packInto(folder), ...others], { cwd: folder });
  }, 180_000);

  afterAll(async () => {
    for (const server of servers) await server.end();
  });

  test('a second service needs less than 100 lines from class to HTTP, without the response mapper', () => {
    const sources = ['order.ts', 'actions.ts', 'main.ts'].map((file) => join(project, 'src', file));
    const lines = sources
      .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
      .filter((line) => line !== '');
    expect(lines.length).toBeLessThan(100);
  });

  test('contains its pages and the example, and no tests', () => {
    const installed = join(folder, 'node_modules', 'fw-actions');
    const names = 'CHANGELOG.md LICENSE README.md bin dist docs examples package.json templates'.split(' ');
    expect(readdirSync(installed).sort()).toEqual(names.filter((name) => existsSync(join(root, name))));
    const files = readdirSync(installed, { recursive: true }).map(String);
    const own = files.filter((file) => !/node_modules|^templates\/init/.test(file));
    expect(own.filter((file) => /\.test\.|vitest|golden/.test(file))).toEqual([]);
  });

  test('has every file that its pages link to', () => {
    const installed = join(folder, 'node_modules', 'fw-actions');
    const pages = readdirSync(installed, { recursive: true })
      .map(String)
      .filter((file) => file.endsWith('.md'));
    const dead = pages.flatMap((page) => {
      const prose = readFileSync(join(installed, page), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');
      return (
        [...prose.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)]
          .map(([, target = '']) => target)
          .filter((target) => !/^[a-z]+:/.test(target))
          // Pages about the code link to sources, which only the repository has.
          .filter((target) => !target.endsWith('.ts'))
          .filter((target) => !existsSync(join(installed, dirname(page), target)))
          .map((target) => `${page}: ${target}`)
      );
    });
    expect(pages.length).toBeGreaterThan(70);
    expect(dead).toEqual([]);
  });

  test('explains a diagnostic', async () => {
    const { stdout } = await run('npx', ['fw-gen', 'explain', 'FWGEN048'], { cwd: folder });
    expect(stdout).toMatch(/^# FWGEN048: /);
  });

  test('generates, compiles under every strict flag and serves orders over HTTP', async () => {
    const generated = await run('npx', ['fw-gen', 'generate'], { cwd: folder });
    expect(generated.stdout + generated.stderr).toMatch(/files? written/);
    await compile(folder);
    const url = await serve(folder);
    const placed = await post<OrderBody>(`${url}/orders`, { customer: 'Ada', total: '12.5' });
    expect([placed.status, placed.body.total, placed.body.state]).toEqual([201, '12.5', 'PLACED']);
    expect(placed.headers.get('location')).toBe(`/orders/${placed.body.id}`);
    const shipped = await post<OrderBody>(`${url}/orders/${placed.body.id}/ship`, {});
    expect([shipped.status, shipped.body.state, shipped.body.version]).toEqual([200, 'SHIPPED', 2]);
    const again = await post<{ readonly detail: string }>(`${url}/orders/${placed.body.id}/ship`, {});
    expect([again.status, again.body.detail]).toEqual([409, 'The order has been shipped already']);
  }, 120_000);

  test('creates a new project whose test and start scripts run at once', async () => {
    const made = join(folder, 'notes');
    await run('npx', ['fw-gen', 'init', 'notes', '--yes'], { cwd: folder });
    // What `npm install` in it would install; the package itself is found in the parent folder.
    const tools = join(made, 'node_modules');
    mkdirSync(join(tools, '.bin'), { recursive: true });
    symlinkSync(join(root, 'node_modules', 'typescript'), join(tools, 'typescript'));
    symlinkSync(tsc, join(tools, '.bin', 'tsc'));
    for (const { version, env } of await nodeVersions(folder)) {
      const { stdout } = await run('npm', ['test'], { cwd: made, env });
      // Without a terminal, Node 20 writes TAP and later versions write the text of the spec reporter.
      expect(stdout, version).toMatch(/^[#ℹ] pass [1-9]\d*$/mu);
      expect(stdout, version).toMatch(/^[#ℹ] fail 0$/mu);
    }
    const url = await serve(made, ['npm', 'start', '--', '--port', '0']);
    expect((await post(`${url}/notes`, { text: 'Buy milk' })).status).toBe(401);
    const written = await writeNote(url, made, 'Buy milk');
    expect([written.status, written.body.text]).toEqual([201, 'Buy milk']);
    const schema = /^# yaml-language-server: \$schema=(\S+)$/m.exec(
      readFileSync(join(made, 'fw.config.yaml'), 'utf8'),
    )?.[1];
    expect(JSON.parse(readFileSync(join(folder, schema ?? ''), 'utf8'))).toHaveProperty('properties.fw');
    await servers.pop()?.end();
  }, 300_000);

  test('can be developed in one terminal, and operated while its server runs', async () => {
    const made = join(folder, 'notes');
    const bin = join(folder, 'node_modules', 'fw-actions', 'bin', 'fw-gen.js');
    const developing = new Terminal([bin, 'dev', '--inspect', '0', '--', '--port', '0'], made);
    try {
      await developing.match(/^Debugger listening on ws:\/\/127\.0\.0\.1:.*$/gm, 1);
      const first = await developing.match(/^listening on (\S+)$/gm, 1);
      // The embedded database is open in the server, and commands use it through the server.
      expect((await writeNote(first, made, 'Buy milk')).status).toBe(201);
      const doctor = await run('node', [bin, 'doctor', '--format', 'json'], { cwd: made });
      expect(JSON.parse(doctor.stdout)).toHaveProperty('findings');
      const { stdout } = await run('node', [bin, 'events', 'schedules', 'list'], { cwd: made });
      expect(stdout).not.toContain('in use');

      const action = join(made, 'src', 'actions', 'note-write-action.ts');
      const source = readFileSync(action, 'utf8');
      writeFileSync(action, source.replace('name, text,', 'name, txt,'));
      await developing.match(/^Compilation failed\. .*$/gm, 1);
      expect((await writeNote(first, made, 'Still here')).status).toBe(201);

      writeFileSync(action, source.replace('name, text,', 'name, text.toUpperCase(),'));
      const second = await developing.match(/^listening on (\S+)$/gm, 2);
      const written = await writeNote(second, made, 'tea');
      expect([written.status, written.body.text]).toEqual([201, 'TEA']);
      await expect(fetch(`${first}/health/live`)).rejects.toThrow();

      // The terminal is closed.
      expect(await developing.end('SIGHUP')).toBe(0);
      await expect(fetch(`${second}/health/live`)).rejects.toThrow();
      expect(readdirSync(join(made, 'data'))).toEqual(['main-1', 'main-2']);
    } finally {
      await developing.end('SIGKILL');
    }
  }, 300_000);
});

/** Writes a note, with the token of the new project. */
function writeNote(url: string, project: string, text: string): Promise<Answer<{ readonly text: string }>> {
  const token = readFileSync(join(project, '.dev-token'), 'utf8').trim();
  return post(`${url}/notes`, { text }, { authorization: `Bearer ${token}` });
}

/** Fails with the compiler's own messages. */
async function compile(folder: string): Promise<void> {
  await run(process.execPath, [tsc, '-p', folder]).catch((error: { stdout: string }) => {
    throw new Error(error.stdout);
  });
}

interface OrderBody {
  readonly id: string;
  readonly total: string;
  readonly state: string;
  readonly version: number;
}

/** A command in a terminal. */
class Terminal {
  readonly #child: ChildProcess;
  #shown = '';

  constructor(args: readonly string[], cwd: string) {
    this.#child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#shown += text;
      });
    }
  }

  /** The capture of the match number `count`. */
  async match(pattern: RegExp, count: number): Promise<string> {
    const deadline = Date.now() + 120_000;
    for (;;) {
      const found = [...this.#shown.matchAll(pattern)][count - 1];
      if (found !== undefined) return found[1] ?? found[0];
      if (Date.now() > deadline || this.#child.exitCode !== null)
        throw new Error(`No match ${count} of ${pattern}:\n${this.#shown}`);
      await sleep(20);
    }
  }

  /** Sends a signal to the command only, and waits for its end; no effect if it has ended. */
  async end(signal: 'SIGHUP' | 'SIGKILL'): Promise<number | null> {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return exitCode;
    const ended = once(this.#child, 'exit');
    if (signal === 'SIGKILL') process.kill(-pid, signal);
    else this.#child.kill(signal);
    await ended;
    return this.#child.exitCode;
  }
}

const servers: Program[] = [];

async function serve(
  folder: string,
  command: readonly string[] = [process.execPath, 'dist/main.js', '--port', '0'],
): Promise<string> {
  const server = await listening(command, { cwd: folder, env: process.env });
  servers.push(server);
  return server.url;
}

function ownVersionOf(name: string): string {
  const text = readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
