import { run } from '../../cli/program.js';

/** The result of one command line. */
export interface Ran {
  readonly code: number;
  readonly info: string;
  readonly error: string;
}

/** Runs a command line in this process. */
export async function fwGen(...argv: readonly string[]): Promise<Ran> {
  const info: string[] = [];
  const error: string[] = [];
  const output = { info: (line: string) => info.push(line), error: (line: string) => error.push(line) };
  const code = await run(argv, output, { version: '1.2.3' });
  return { code, info: info.join('\n'), error: error.join('\n') };
}
