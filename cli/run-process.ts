import { COMMANDS } from './commands.js';
import { runInTerminal } from './terminal.js';

/** Runs a command line of any command. */
export function runProcess(argv: readonly string[]): Promise<void> {
  return runInTerminal(argv, COMMANDS);
}
