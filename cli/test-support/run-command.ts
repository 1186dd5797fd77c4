import { type CommandContext, commandContext } from '../command-context.js';
import { Command, CommanderError } from '../commander.js';
import { EXIT, type ExitCode } from '../exit.js';

export interface Ran {
  readonly code: ExitCode;
  readonly info: string;
  readonly error: string;
}

/** Runs one command line of a program with only these commands. */
export async function runCommand(
  argv: readonly string[],
  ...commands: readonly ((program: Command, context: CommandContext) => void)[]
): Promise<Ran> {
  const info: string[] = [];
  const error: string[] = [];
  const output = { info: (line: string) => info.push(line), error: (line: string) => error.push(line) };
  let code: ExitCode = EXIT.success;
  const finish = (given: ExitCode): void => {
    code = given;
  };
  const signal = new AbortController().signal;
  const program = new Command('fw-gen')
    .exitOverride()
    .configureOutput({ writeOut: output.info, writeErr: output.error });
  for (const add of commands) add(program, commandContext(output, finish, { version: '1.2.3', signal }));
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (failure) {
    if (!(failure instanceof CommanderError)) throw failure;
    code = failure.exitCode === 0 ? EXIT.success : EXIT.inputError;
  }
  return { code, info: info.join('\n'), error: error.join('\n') };
}
