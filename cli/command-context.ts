import { type Diagnostic, formatDiagnostic } from '../generator/diagnostics.js';
import type { MigrationText } from '../generator/migrations.js';
import { ConfigurationError, type FwConfig, loadConfig } from '../runtime/config/index.js';
import { loadProjectConfig } from '../runtime/config/load-config.js';
import type { ProjectConfig } from '../runtime/config/types.js';
import { type Command, InvalidArgumentError } from './commander.js';
import type { ExitCode, Output } from './exit.js';
import { failureCode } from './failure-code.js';
import { InputError } from './input-error.js';
import { projectFolders } from './load-generator.js';

export { InputError, projectFolders };

/** The context of every command. */
export interface CommandContext {
  readonly output: Output;
  /** Version of the package. */
  readonly version: string;
  /** Ends a long-running command, such as `generate --watch`. */
  readonly signal: AbortSignal;
  /** Runs a command. Its result becomes the exit code. */
  readonly run: (work: () => Promise<ExitCode>) => Promise<void>;
}

/** Adds `--config`. */
export function withConfig(command: Command): Command {
  return command.option('--config <file>', 'configuration file', 'fw.config.yaml');
}

/** Adds `--format table|json`. */
export function withFormat(command: Command): Command {
  return command.option('--format <format>', 'table or json', choice(['table', 'json']), 'table');
}

/** Adds `--parallel <n>`. */
export function withParallel(command: Command): Command {
  return command.option(
    '--parallel <n>',
    'maximum number of concurrent shards, 1 to 256',
    wholeNumber(1, 256),
    8,
  );
}

export function choice<T extends string>(choices: readonly T[]): (text: string) => T {
  return (text) => {
    const found = choices.find((each) => each === text);
    if (found === undefined) throw new InvalidArgumentError(`Choose one of ${choices.join(', ')}.`);
    return found;
  };
}

/** Parses an integer from `least` to `most`. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,16}$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
  };
}

/** @throws InputError with all mistakes */
export function readConfig(file: string): FwConfig {
  return withoutMistakes(() => loadConfig(file));
}

/**
 * The configuration for a command that needs no database, and so none of the application's secrets.
 *
 * @param used the sections and values that it uses
 * @throws InputError with all mistakes
 */
export function readProjectConfig(file: string, used: readonly string[] = ['generator']): ProjectConfig {
  return withoutMistakes(() => loadProjectConfig(file, { used }));
}

function withoutMistakes<T>(load: () => T): T {
  try {
    return load();
  } catch (error) {
    if (error instanceof ConfigurationError) throw new InputError(error.message);
    throw error;
  }
}

/** The project's migrations. Loads the parser on demand. @throws InputError with all mistakes in their files */
export async function readMigrations(
  config: Pick<ProjectConfig, 'file' | 'generator'>,
): Promise<readonly MigrationText[]> {
  const folders = projectFolders(config);
  const { readMigrationTexts } = await import('../generator/migrations.js');
  const { migrations, diagnostics } = readMigrationTexts(folders);
  requireNone(diagnostics);
  return migrations;
}

/** @throws InputError if the sources have mistakes */
export function requireNone(diagnostics: readonly Diagnostic[]): void {
  if (diagnostics.length > 0) throw new InputError(diagnostics.map(formatDiagnostic).join('\n'));
}

/** A context whose commands may throw `InputError`. */
export function commandContext(
  output: Output,
  finish: (code: ExitCode) => void,
  process: Pick<CommandContext, 'version' | 'signal'>,
): CommandContext {
  return {
    ...process,
    output,
    run: async (work) => {
      try {
        finish(await work());
      } catch (error) {
        finish(failureCode(error, output));
      }
    },
  };
}
