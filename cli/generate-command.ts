import { CONFIG, type CommandEntry, choice, command, flag, value } from './command.js';
import { generateOnce } from './generate-run.js';
import { FORMATS } from './report/report.js';

/** `fw-gen generate` */
export const GENERATE: CommandEntry = command({
  name: 'generate',
  about:
    'Generates code from the marked sources. Writes the files that changed, and none if the sources have a mistake.',
  examples: [
    ['fw-gen generate', 'reads fw.config.yaml in the current folder'],
    ['fw-gen generate --config my.yaml', 'reads another configuration'],
    ['fw-gen generate --check --format github', 'annotates a pull request with the stale files'],
    ['fw-gen generate --watch', 'keeps the output up to date while you work'],
  ],
  inputs: {
    ...CONFIG,
    check: flag(
      '--check',
      'write nothing; show stale files with the reason, and exit with 1 if there are any',
    ),
    dryRun: flag('--dry-run', 'write nothing; list what would be written'),
    strict: flag('--strict', 'treat warnings as mistakes, such as a route without a rule (@Allow)'),
    watch: flag('--watch', 'keep running, and regenerate when sources, configuration or templates change'),
    force: flag('--force', 'replace files that were edited by hand, or that fw-gen did not write'),
    timing: flag('--timing', 'show how long each phase took'),
    quiet: flag('--quiet', 'print mistakes and stale files only'),
    format: value('--format <format>', FORMATS.join(', '), choice(FORMATS), 'text'),
  },
  run: async (flags, context) => {
    if (flags.watch !== true) return generateOnce(flags, context);
    const { watchCommand } = await import('./watch-command.js');
    return watchCommand(flags, context);
  },
});
