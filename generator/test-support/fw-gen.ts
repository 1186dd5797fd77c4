import { type Ran, runCommand } from '../../cli/test-support/run-command.js';

export type { Ran };

/** Runs a command line in this process. */
export function fwGen(...argv: readonly string[]): Promise<Ran> {
  return runCommand(argv);
}
