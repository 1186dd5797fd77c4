import { Command, CommanderError } from 'commander';
import { addTo, type CommandContext, type CommandEntry, exampleText } from './command.js';
import { EXIT, type ExitCode, type Output } from './exit.js';
import { failureCode } from './failures.js';

/** Options of a command line's run. */
export interface RunOptions {
  readonly version: string;
  /** The known commands, in the order of the help. */
  readonly commands: readonly CommandEntry[];
  /** Ends long-running commands. Default: never. */
  readonly signal?: AbortSignal;
}

/** Runs one command line. @param argv the arguments behind the program's name */
export async function run(argv: readonly string[], output: Output, options: RunOptions): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.success;
  const { version, commands, signal = new AbortController().signal } = options;
  const context = { output, version, signal };
  const program = createProgram(context);
  for (const entry of commands)
    addTo(program, entry, context, (code) => {
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

function createProgram({ output, version }: CommandContext): Command {
  return new Command('fw-gen')
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
}
