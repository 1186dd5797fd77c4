import { type CommandContext, choice, withConfig } from './command-context.js';
import type { Command } from './commander.js';
import type { ExitCode } from './exit.js';
import type { GenerateFlags } from './generate-flags.js';
import { generateOnce } from './generate-run.js';
import { examples } from './help.js';
import { FORMATS } from './report/report.js';

/** Adds `fw-gen generate`. */
export function addGenerateCommand(program: Command, context: CommandContext): void {
  withConfig(program.command('generate'))
    .description('Writes the files that changed; nothing while there is a mistake in the sources.')
    .option('--check', 'write nothing; show what is stale and why, and end with 1 if anything is')
    .option('--dry-run', 'write nothing; list what would be written')
    .option('--strict', 'take a route without a rule (@Allow) as a mistake')
    .option('--watch', 'go on, and generate again whenever sources, configuration or templates change')
    .option('--clean', 'write every file anew, whatever is there')
    .option('--force', 'replace files that were edited by hand, or that fw-gen did not write')
    .option('--no-cache', 'look at every source, whatever the last run left behind')
    .option('--verify-cache', 'prove that the cache gives what a run without it gives')
    .option('--timing', 'show how long each phase took')
    .option('--quiet', 'print mistakes and stale files only')
    .option('--format <format>', FORMATS.join(', '), choice(FORMATS), 'text')
    .addHelpText(
      'after',
      examples(
        ['fw-gen generate', 'reads fw.config.yaml in the current folder'],
        ['fw-gen generate --config my.yaml', 'reads another configuration'],
        ['fw-gen generate --check --format github', 'annotates a pull request with what is stale'],
        ['fw-gen generate --watch', 'keeps the output right while you work'],
      ),
    )
    .action((flags: GenerateFlags) => context.run(() => generateCommand(flags, context)));
}

async function generateCommand(flags: GenerateFlags, context: CommandContext): Promise<ExitCode> {
  if (flags.watch !== true) return generateOnce(flags, context);
  const { watchCommand } = await import('./watch-command.js');
  return watchCommand(flags, context);
}
