import { run } from './program.js';
import { interruption, packageVersion, terminal } from './terminal.js';

/** Runs a command line with this process's terminal, signals and exit code. */
export async function runProcess(argv: readonly string[]): Promise<void> {
  process.exitCode = await run(argv, terminal(), { version: packageVersion(), signal: interruption() });
}
