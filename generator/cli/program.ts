import { Command, CommanderError } from 'commander';
import { EXIT, type ExitCode, type Output } from './exit.js';
import { generateCommand } from './generate-command.js';

const EXAMPLES = `
Examples:
  $ fw-gen generate                        reads fw.config.yaml in the current folder
  $ fw-gen generate --config my.yaml       reads another configuration`;

/** Runs one command line. @param argv the arguments behind the program's name */
export async function run(argv: readonly string[], output: Output, version: string): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.success;
  const program = new Command('fw-gen')
    .description(
      'Generates builders, wiring, routes, the API document and first migrations from marked sources.',
    )
    .version(version)
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.info(text.trimEnd()),
      writeErr: (text) => output.error(text.trimEnd()),
    });
  program
    .command('generate')
    .description('Writes the files that changed; nothing while there is a mistake in the sources.')
    .option('--config <file>', 'configuration file', 'fw.config.yaml')
    .action(async (options: { readonly config: string }) => {
      exitCode = await generateCommand(options.config, output);
    });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.success : EXIT.inputError;
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    output.error(`This is a bug of fw-gen, please report it:\n${detail}`);
    return EXIT.bug;
  }
}
