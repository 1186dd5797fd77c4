import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A built example. */
export type Example = 'wallet' | 'booking';

/** Another program, with options of Node.js. */
export interface OtherProgram {
  readonly program: string;
  readonly options: readonly string[];
}

/** A built server in its own process. */
export interface ServerProcess {
  /** `http://127.0.0.1:PORT`, or `https://`, read from the line that it prints. */
  readonly url: string;
  readonly process: ChildProcess;
  /** Everything on standard output and standard error so far. */
  output(): string;
  /** Sends SIGTERM and waits for the end. Returns the exit code. */
  stop(): Promise<number | null>;
}

/** The end of a start that must fail. */
export interface FailedStart {
  readonly exitCode: number | null;
  readonly output: string;
}

/** Starts the server and waits until it listens. */
export async function startServerProcess(
  config: string,
  env: Readonly<Record<string, string>> = {},
  example: Example | OtherProgram = 'wallet',
): Promise<ServerProcess> {
  const { child, output } = run(config, env, example);
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', () => {
      const line = /^listening on (https?:\/\/\S+)$/m.exec(output());
      if (line?.[1] !== undefined) resolve(line[1]);
    });
    child.once('exit', (code) => reject(new Error(`The server ended with ${code}:\n${output()}`)));
  });
  const stop = async (): Promise<number | null> => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    child.kill('SIGTERM');
    const [code] = (await once(child, 'exit')) as [number | null];
    return code;
  };
  return { url, process: child, output, stop };
}

/** Starts a server that must refuse its configuration, and waits for its end. */
export async function failToStart(
  config: string,
  env: Readonly<Record<string, string>> = {},
): Promise<FailedStart> {
  const { child, output } = run(config, env);
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return { exitCode, output: output() };
}

function run(
  config: string,
  env: Readonly<Record<string, string>>,
  example: Example | OtherProgram = 'wallet',
): { readonly child: ChildProcess; readonly output: () => string } {
  const main =
    typeof example === 'string'
      ? [join(ROOT, 'dist', 'examples', example, 'main.js')]
      : [...example.options, example.program];
  const child = spawn(process.execPath, [...main, '--config', config, '--port', '0'], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  return { child, output: () => text };
}
