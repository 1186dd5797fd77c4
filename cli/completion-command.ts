import type { CommandContext } from './command-context.js';
import { Argument, type Command, type Option } from './commander.js';
import { EXIT, type ExitCode } from './exit.js';
import { examples } from './help.js';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** Adds `fw-gen completion`. */
export function addCompletionCommand(program: Command, context: CommandContext): void {
  program
    .command('completion')
    .description('Prints a script that completes commands and flags in your shell.')
    .addArgument(new Argument('<shell>', 'your shell').choices(SHELLS))
    .addHelpText(
      'after',
      examples(
        ['eval "$(fw-gen completion bash)"', 'in ~/.bashrc'],
        ['eval "$(fw-gen completion zsh)"', 'in ~/.zshrc, behind compinit'],
        ['fw-gen completion fish | source', 'in ~/.config/fish/config.fish'],
      ),
    )
    .action((shell: (typeof SHELLS)[number]) =>
      context.run(async (): Promise<ExitCode> => {
        const words = [...wordsOf(program, [])];
        context.output.info(shell === 'fish' ? fishScript(words) : bashScript(words, shell));
        return EXIT.success;
      }),
    );
}

/** The words that may follow a line: the arguments of a command, its flags and subcommands. */
interface Words {
  readonly command: readonly string[];
  readonly next: readonly { readonly word: string; readonly description: string }[];
}

function* wordsOf(command: Command, path: readonly string[]): Generator<Words> {
  const flags = command.options.flatMap((option: Option) =>
    option.long === undefined || option.long === null
      ? []
      : [{ word: option.long, description: option.description }],
  );
  const commands = command.commands.map((each) => ({ word: each.name(), description: each.description() }));
  yield { command: path, next: [...commands, ...flags, { word: '--help', description: 'show help' }] };
  for (const each of command.commands) yield* wordsOf(each, [...path, each.name()]);
}

function bashScript(words: readonly Words[], shell: 'bash' | 'zsh'): string {
  const cases = [...words]
    .reverse()
    .map(
      ({ command, next }) =>
        `    "${['fw-gen', ...command].join(' ')}"*) words="${next.map(({ word }) => word).join(' ')}" ;;`,
    );
  return [
    ...(shell === 'zsh' ? ['autoload -Uz bashcompinit && bashcompinit'] : []),
    '_fw_gen() {',
    `  local words current="\${COMP_WORDS[COMP_CWORD]}"`,
    `  local line="\${COMP_WORDS[*]:0:COMP_CWORD}"`,
    `  case "fw-gen\${line#*fw-gen}" in`,
    ...cases,
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '}',
    'complete -o default -F _fw_gen fw-gen',
  ].join('\n');
}

function fishScript(words: readonly Words[]): string {
  return words
    .flatMap(({ command, next }) =>
      next.map(({ word, description }) => {
        const condition =
          command.length === 0
            ? '__fish_use_subcommand'
            : command.map((each) => `__fish_seen_subcommand_from ${each}`).join('; and ');
        const value = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`;
        return `complete -c fw-gen -n '${condition}' ${value} -d '${description.replaceAll("'", "\\'")}'`;
      }),
    )
    .join('\n');
}
