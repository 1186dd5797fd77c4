import { failureCode } from './failures.js';
import type { GenerateFlags } from './generate-flags.js';
import { generateOnce } from './generate-run.js';
import { interruption, packageVersion, terminal } from './terminal.js';

/** Runs `fw-gen generate` with this process's terminal and exit code. Loads no module of the other commands. */
export async function generateProcess(flags: GenerateFlags): Promise<void> {
  const output = terminal();
  interruption();
  try {
    process.exitCode = await generateOnce(flags, { output, version: packageVersion() });
  } catch (error) {
    process.exitCode = failureCode(error, output);
  }
}
