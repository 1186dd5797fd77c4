import { type CommandContext, commandContext } from './command-context.js';
import { Command, CommanderError } from './commander.js';
import { addConfigCommand } from './config-command.js';
import { addDevCommand } from './dev-command.js';
import { addDoctorCommand } from './doctor-command.js';
import { addEventsCommand } from './events/events-command.js';
import { EXIT, type ExitCode, type Output } from './exit.js';
import { addExplainCommand } from './explain-command.js';
import { failureCode } from './failure-code.js';
import { addGenerateCommand } from './generate-command.js';
import { examples } from './help.js';
import { addInitCommand } from './init-command.js';
import { addJournalCommand } from './journal/journal-command.js';
import { addKeysCommand } from './keys/keys-command.js';
import { addMigrateCommand } from './migrate-command.js';
import { addOpenApiCommand } from './openapi-command.js';
import { addConnectorsCommand } from './relay/connectors-command.js';
import { addRelayCommand } from './relay/relay-command.js';
import { addSchemasCommand } from './relay/schemas-command.js';
import { addSagasCommand } from './sagas/sagas-command.js';
import { addTemplatesCommand } from './templates-command.js';

/** Every command, in the order of the help. Each function adds one command with options and examples. */
const COMMANDS: readonly ((program: Command, context: CommandContext) => void)[] = [
  addInitCommand,
  addGenerateCommand,
  addDevCommand,
  addExplainCommand,
  addOpenApiCommand,
  addTemplatesCommand,
  addMigrateCommand,
  addDoctorCommand,
  addEventsCommand,
  addRelayCommand,
  addConnectorsCommand,
  addSchemasCommand,
  addSagasCommand,
  addJournalCommand,
  addKeysCommand,
  addConfigCommand,
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
  const finish = (code: ExitCode): void => {
    exitCode = code;
  };
  const { version, signal = new AbortController().signal } = options;
  try {
    const program = createProgram(commandContext(output, finish, { version, signal }));
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.success : EXIT.inputError;
    return failureCode(error, output);
  }
}

/** Creates the complete command line. The help is derived from it. */
export function createProgram(context: CommandContext): Command {
  const { output, version } = context;
  const program = new Command('fw-gen')
    .description(
      'Generates builders, wiring, routes, the API document and first migrations from marked sources.',
    )
    .version(version)
    .addHelpText(
      'after',
      examples(
        ['fw-gen init my-app', 'creates a runnable project'],
        ['fw-gen generate', 'generates from the sources in fw.config.yaml'],
        ['fw-gen generate --check', 'exits with 1 if the files on disk are stale'],
      ),
    )
    .showHelpAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.info(text.trimEnd()),
      writeErr: (text) => output.error(text.trimEnd()),
    });
  for (const add of COMMANDS) add(program, context);
  return program;
}
