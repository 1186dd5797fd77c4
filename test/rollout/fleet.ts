import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import type { SeededRandom } from '../faults/seeded-random.js';
import type { ProcessPlan, Reply, Request } from './protocol.js';
import type { Release } from './releases.js';

const ROOT = join(import.meta.dirname, '..', '..');
/** Inside the repository, where the output finds the packages that it imports. */
const OUTPUT = join(ROOT, 'dist', 'rollout');
const RETRY_MS = 20;
const PATIENCE_MS = 300_000;

/** The program of both releases, which plain Node.js can run. */
export interface Program {
  readonly path: string;
  remove(): Promise<void>;
}

export async function buildProgram(): Promise<Program> {
  await mkdir(OUTPUT, { recursive: true });
  const folder = await mkdtemp(join(OUTPUT, 'program-'));
  const path = join(folder, 'release-process.js');
  await build({
    entryPoints: [join(import.meta.dirname, 'release-process.ts')],
    outfile: path,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    keepNames: true,
    alias: {
      'fw-actions/codegen': join(ROOT, 'runtime/codegen/index.ts'),
      'fw-actions/http': join(ROOT, 'runtime/entrances/http.ts'),
      'fw-actions/operate': join(ROOT, 'runtime/entrances/operate.ts'),
      'fw-actions': join(ROOT, 'runtime/index.ts'),
    },
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true, target: 'es2023' } },
    logLevel: 'error',
  });
  return { path, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** A running process of one release. */
export class ReleaseProcess {
  readonly release: Release;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<string, (reply: Reply) => void>();
  #isGone = false;

  constructor(program: Program, plan: ProcessPlan) {
    this.release = plan.release;
    this.#child = fork(program.path, [JSON.stringify(plan)], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#child.on('message', (reply: Reply) => this.#settle(reply));
    this.#child.on('exit', () => {
      this.#isGone = true;
      for (const key of [...this.#waiting.keys()]) this.#settle({ key, error: 'the process has ended' });
    });
  }

  /** Resolves when its shards are in service. @throws Error if it ends before */
  async ready(): Promise<this> {
    const { error } = await this.#reply('ready');
    if (error !== undefined) throw new Error(error);
    return this;
  }

  /** Never rejects: the reply has an error if the process ends before it answers. */
  request(request: Request): Promise<Reply> {
    if (this.#isGone) return Promise.resolve({ key: request.key, error: 'the process has ended' });
    const reply = this.#reply(request.key);
    this.#child.send(request, () => {});
    return reply;
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.#isGone) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill(signal);
    await gone;
  }

  #reply(key: string): Promise<Reply> {
    return new Promise((resolve) => this.#waiting.set(key, resolve));
  }

  #settle(reply: Reply): void {
    this.#waiting.get(reply.key)?.(reply);
    this.#waiting.delete(reply.key);
  }
}

/** The processes that serve at a time. */
export class Fleet {
  readonly #program: Program;
  readonly #planOf: (release: Release) => ProcessPlan;
  readonly #processes: ReleaseProcess[] = [];

  constructor(program: Program, planOf: (release: Release) => ProcessPlan) {
    this.#program = program;
    this.#planOf = planOf;
  }

  of(release: Release): readonly ReleaseProcess[] {
    return this.#processes.filter((each) => each.release === release);
  }

  async start(release: Release): Promise<ReleaseProcess> {
    const started = await new ReleaseProcess(this.#program, this.#planOf(release)).ready();
    this.#processes.push(started);
    return started;
  }

  async end(process: ReleaseProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#processes.splice(this.#processes.indexOf(process), 1);
    await process.end(signal);
  }

  async endAll(): Promise<void> {
    await Promise.all(this.#processes.splice(0).map((process) => process.end('SIGKILL')));
  }

  /**
   * Repeats a request under its key, in any process that knows it, until it is answered.
   *
   * @throws Error with the last reply, after a minute
   */
  async request(request: Request, random: SeededRandom): Promise<string> {
    const isNew = request.kind === 'later' || request.kind === 'check';
    const endMs = performance.now() + PATIENCE_MS;
    for (;;) {
      const process = random.pick(isNew ? this.of(2) : this.#processes);
      const reply = await process?.request(request);
      if (reply?.result !== undefined) return reply.result;
      if (performance.now() > endMs)
        throw new Error(`${request.kind}: ${reply?.error ?? 'no process knows the request'}`);
      await sleep(RETRY_MS);
    }
  }
}
