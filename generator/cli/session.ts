import type { Command } from 'commander';
import type { ExitCode, Output } from './exit.js';

/** What one command line is run with. Commands write to `output` and say what the process ends with. */
export interface Session {
  readonly output: Output;
  /** Version of the package. */
  readonly version: string;
  /** Ends a command that does not end by itself, such as `--watch`. */
  readonly signal: AbortSignal;
  finish(code: ExitCode): void;
}

/** Examples behind a command's help, one per line: what to type, what it does. */
export function examples(...lines: readonly (readonly [command: string, effect: string])[]): string {
  const width = Math.max(...lines.map(([command]) => command.length)) + 3;
  return `\nExamples:\n${lines.map(([command, effect]) => `  $ ${command.padEnd(width)}${effect}`).join('\n')}`;
}

/** The option that all commands share which read the configuration. */
export function withConfigOption(command: Command): Command {
  return command.option('-c, --config <file>', 'configuration file', 'fw.config.yaml');
}
