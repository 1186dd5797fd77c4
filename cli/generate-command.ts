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
    .description('Writes the files that changed. Writes nothing if the sources have a mistake.')
    .option('--check', 'write nothing; show stale files with the reason, and exit with 1 if there are any')
    .option('--dry-run', 'write nothing; list what would be written')
    .option('--strict', 'treat warnings as mistakes, such as a route without a rule (@Allow)')
    .option('--watch', 'keep running, and regenerate when sources, configuration or templates change')
    .option('--clean', 'rewrite every file, even if it is up to date')
    .option('--force', 'replace files that were edited by hand, or that fw-gen did not write')
    .option('--timing', 'show how long each phase took')
    .option('--quiet', 'print mistakes and stale files only')
    .option('--format <format>', FORMATS.join(', '), choice(FORMATS), 'text')
    .addHelpText(
      'after',
      examples(
        ['fw-gen generate', 'reads fw.config.yaml in the current folder'],
        ['fw-gen generate --config my.yaml', 'reads another configuration'],
        ['fw-gen generate --check --format github', 'annotates a pull request with the stale files'],
        ['fw-gen generate --watch', 'keeps the output up to date while you work'],
      ),
    )
    .action((flags: GenerateFlags) => context.run(() => generateCommand(flags, context)));
}

async function generateCommand(flags: GenerateFlags, context: CommandContext): Promise<ExitCode> {
  if (flags.watch !== true) return generateOnce(flags, context);
  const { watchCommand } = await import('./watch-command.js');
  return watchCommand(flags, context);
}
