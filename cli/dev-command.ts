import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import {
  CONFIG,
  type CommandContext,
  type CommandEntry,
  command,
  type Input,
  type Values,
  value,
  wholeNumber,
} from './command.js';
import { EXIT, type ExitCode, type Output } from './exit.js';
import { InputError } from './input-error.js';

const ARGS: Input<readonly string[]> = { flags: '[args...]', about: '' };
const INPUTS = {
  args: ARGS,
  ...CONFIG,
  main: value('--main <file>', 'compiled entry point of the server', (file) => file, 'dist/main.js'),
  project: value('--project <file>', 'tsconfig for the TypeScript compiler', (file) => file, 'tsconfig.json'),
  // True without a port: Node's default.
  inspect: value<number | true>(
    '--inspect [port]',
    'opens the debugger of the server, on port 9229 by default',
    wholeNumber(0, 65_535),
  ),
};

/** `fw-gen dev` */
export const DEV: CommandEntry = command({
  name: 'dev',
  about: 'Generates, compiles and runs the server, and repeats this after each change. Ctrl+C stops it.',
  examples: [
    ['fw-gen dev', 'in the folder of fw.config.yaml'],
    ['fw-gen dev -- --port 3000', 'passes arguments to the server'],
    ['fw-gen dev --inspect', 'lets a debugger attach to the server, again after each restart'],
  ],
  inputs: INPUTS,
  run: develop,
});

async function develop(
  { args, config, main, project, inspect }: Values<typeof INPUTS>,
  context: CommandContext,
): Promise<ExitCode> {
  const { output, signal } = context;
  const directory = dirname(resolve(config));
  const start = (nodeArgs: readonly string[]): ChildProcess =>
    spawn(process.execPath, [...nodeArgs], { cwd: directory, stdio: ['ignore', 'inherit', 'inherit'] });
  const compiler = compilerOf(directory);
  const debug = inspect === undefined ? [] : [inspect === true ? '--inspect' : `--inspect=${inspect}`];
  const server = new DevServer(() => start([...debug, main, ...args]), output);
  const { watchCommand } = await import('./watch-command.js');
  const afterRun = async (code: ExitCode): Promise<void> => {
    if (code !== EXIT.success || signal.aborted) return;
    const startedMs = performance.now();
    if (!(await succeeds(start([compiler, '-p', project, '--noEmitOnError']), signal))) {
      if (!signal.aborted)
        output.error('Compilation failed. The server stays as it is until the next change.');
      return;
    }
    output.info(`compiled, ${Math.round(performance.now() - startedMs)} ms`);
    if (!existsSync(resolve(directory, main)))
      throw new InputError(
        `The compiler did not emit ${main}. Pass the entry point of the server as --main.`,
      );
    await server.restart();
  };
  // A closed terminal: the server takes SIGHUP for a request to read its configuration, and would go on alone.
  process.once('SIGHUP', () => process.kill(process.pid, 'SIGTERM'));
  try {
    return await watchCommand({ config, format: 'text' }, context, afterRun);
  } finally {
    // A terminal sends SIGINT to all of its processes.
    await server.stop(signal.reason === 'SIGINT' && process.stdin.isTTY);
  }
}

/** @throws InputError if the project does not have it */
function compilerOf(directory: string): string {
  try {
    const file = createRequire(join(directory, 'package.json')).resolve('typescript/package.json');
    const { bin } = JSON.parse(readFileSync(file, 'utf8')) as { readonly bin: { readonly tsc: string } };
    return join(dirname(file), bin.tsc);
  } catch {
    throw new InputError(
      `${directory} has no TypeScript compiler: run \`npm install --save-dev typescript\` there.`,
    );
  }
}

/** Waits for the compiler, which prints its findings to the terminal. An interruption ends it. */
async function succeeds(compiler: ChildProcess, signal: AbortSignal): Promise<boolean> {
  const end = (): void => void compiler.kill();
  signal.addEventListener('abort', end, { once: true });
  const [code] = await once(compiler, 'exit');
  signal.removeEventListener('abort', end);
  return code === 0;
}

/** Time after SIGTERM until a server is killed, in milliseconds. A server closes its databases within 10 seconds. */
const STOP_WITHIN_MS = 12_000;

/** The server under development: at most one process at a time. */
class DevServer {
  readonly #start: () => ChildProcess;
  readonly #output: Output;
  #child: ChildProcess | undefined;

  constructor(start: () => ChildProcess, output: Output) {
    this.#start = start;
    this.#output = output;
  }

  /** Ends the running process, if any, and starts the next one. */
  async restart(): Promise<void> {
    await this.stop();
    const child = this.#start();
    this.#child = child;
    child.once('exit', (code, signal) => {
      if (this.#child !== child) return;
      this.#child = undefined;
      this.#output.error(`The server exited with ${signal ?? code}. It restarts after the next change.`);
    });
    child.once('error', ({ message }) => this.#output.error(`The server cannot be started: ${message}`));
  }

  /**
   * Ends the process gracefully, or kills it if that takes too long.
   *
   * @param isSignalled whether the terminal has already sent the signal. A second one would end the process at once
   */
  async stop(isSignalled = false): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    if (!isSignalled) child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
    await ended;
    clearTimeout(timer);
  }
}
