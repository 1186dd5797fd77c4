import { Command, CommanderError } from 'commander';
import { addTo, type CommandContext, type CommandEntry, exampleText } from './command.js';
import { CONFIGURATION } from './config-command.js';
import { DEV } from './dev-command.js';
import { EXIT, type ExitCode, type Output } from './exit.js';
import { EXPLAIN } from './explain-command.js';
import { failureCode } from './failures.js';
import { GENERATE } from './generate-command.js';
import { INIT } from './init-command.js';
import { OPENAPI } from './openapi-command.js';
import { DOCTOR } from './operate/doctor.js';
import { EVENTS } from './operate/events.js';
import { HISTORY } from './operate/history.js';
import { IMPORT } from './operate/import.js';
import { CONNECTORS, SCHEMAS } from './operate/integration-files.js';
import { JOURNAL } from './operate/journal.js';
import { KEYS } from './operate/keys.js';
import { MIGRATE } from './operate/migrate.js';
import { RELAY } from './operate/relay.js';
import { SAGAS } from './operate/sagas.js';
import { TOP } from './operate/top.js';
import { TEMPLATES } from './templates-command.js';

/** Every command, in the order of the help. */
export const COMMANDS: readonly CommandEntry[] = [
  INIT,
  GENERATE,
  DEV,
  EXPLAIN,
  OPENAPI,
  TEMPLATES,
  MIGRATE,
  DOCTOR,
  TOP,
  EVENTS,
  RELAY,
  CONNECTORS,
  SCHEMAS,
  SAGAS,
  HISTORY,
  IMPORT,
  JOURNAL,
  KEYS,
  CONFIGURATION,
];

/** Options of a command line's run. */
export interface RunOptions {
  readonly version: string;
  /** Ends long-running commands. Default: never. */
  readonly signal?: AbortSignal;
}

/** Runs one command line. @param argv the arguments behind the program's name */
export async function run(argv: readonly string[], output: Output, options: RunOptions): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.success;
  const { version, signal = new AbortController().signal } = options;
  const program = createProgram({ output, version, signal }, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.success : EXIT.inputError;
    return failureCode(error, output);
  }
}

/** Creates the complete command line. The help is derived from it. */
export function createProgram(context: CommandContext, finish: (code: ExitCode) => void): Command {
  const { output, version } = context;
  const program = new Command('fw-gen')
    .description(
      'Generates builders, wiring, routes, the API document and first migrations from marked sources.',
    )
    .version(version)
    .addHelpText(
      'after',
      exampleText([
        ['fw-gen init my-app', 'creates a runnable project'],
        ['fw-gen generate', 'generates from the sources in fw.config.yaml'],
        ['fw-gen generate --check', 'exits with 1 if the files on disk are stale'],
      ]),
    )
    .showHelpAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.info(text.trimEnd()),
      writeErr: (text) => output.error(text.trimEnd()),
    });
  for (const entry of COMMANDS) addTo(program, entry, context, finish);
  return program;
}
