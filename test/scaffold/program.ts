import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A server that was started from the command line, with the processes that it has started. */
export interface Program {
  /** As it prints it. */
  readonly url: string;
  /** Sends SIGTERM to all of its processes and waits for its end. */
  end(): Promise<void>;
}

/** Starts a program in its own process group, and waits until it listens. */
export async function listening(
  [program = '', ...args]: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly uid?: number },
): Promise<Program> {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        const printed = /^listening on (\S+)$/m.exec(output)?.[1];
        if (printed !== undefined) resolve(printed);
      });
    }
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${program} ended with ${code}:\n${output}`)));
  });
  const end = async (): Promise<void> => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    process.kill(-child.pid, 'SIGTERM');
    await ended;
  };
  return { url, end };
}
