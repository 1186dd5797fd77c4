import { COMMANDS } from '../commands.js';
import type { ExitCode } from '../exit.js';
import { run } from '../program.js';

export interface Ran {
  readonly code: ExitCode;
  readonly info: string;
  readonly error: string;
}

/** Runs one command line in this process. */
export async function runCommand(argv: readonly string[], signal?: AbortSignal): Promise<Ran> {
  const info: string[] = [];
  const error: string[] = [];
  const output = { info: (line: string) => info.push(line), error: (line: string) => error.push(line) };
  const options = { version: '1.2.3', commands: COMMANDS, ...(signal === undefined ? {} : { signal }) };
  const code = await run(argv, output, options);
  return { code, info: info.join('\n'), error: error.join('\n') };
}
