import { spawn } from 'node:child_process';
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
import { DevServer } from './dev-server.js';
import { EXIT, type ExitCode } from './exit.js';
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
  const directory = dirname(resolve(config));
  const compiler = compilerOf(directory);
  const debug = inspect === undefined ? [] : [inspect === true ? '--inspect' : `--inspect=${inspect}`];
  const nodeArgs = [...debug, main, ...args];
  const server = new DevServer({ args: nodeArgs, directory, output: context.output });
  const { watchCommand } = await import('./watch-command.js');
  const afterRun = async (code: ExitCode): Promise<void> => {
    if (code !== EXIT.success || context.signal.aborted) return;
    const started = performance.now();
    const compileArgs = [compiler, '-p', project, '--noEmitOnError'];
    if (!(await compiles(compileArgs, directory, context.signal))) {
      if (!context.signal.aborted)
        context.output.error('Compilation failed. The server stays as it is until the next change.');
      return;
    }
    context.output.info(`compiled, ${Math.round(performance.now() - started)} ms`);
    if (!existsSync(resolve(directory, main)))
      throw new InputError(
        `The compiler did not emit ${main}. Pass the entry point of the server as --main.`,
      );
    await server.restart();
  };
  const flags = { config, format: 'text' as const };
  try {
    return await watchCommand(flags, context, afterRun);
  } finally {
    // A terminal sends SIGINT to all of its processes.
    await server.stop(context.signal.reason === 'SIGINT' && process.stdin.isTTY);
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

/** Runs the compiler, which prints its findings to the terminal. An interruption ends it. */
async function compiles(args: readonly string[], directory: string, signal: AbortSignal): Promise<boolean> {
  const child = spawn(process.execPath, [...args], {
    cwd: directory,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const end = (): void => void child.kill();
  signal.addEventListener('abort', end, { once: true });
  const [code] = await once(child, 'exit');
  signal.removeEventListener('abort', end);
  return code === 0;
}
