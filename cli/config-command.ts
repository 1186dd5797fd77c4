import { configSchema, printConfig } from '../runtime/config/index.js';
import { type CommandContext, readConfig, withConfig } from './command-context.js';
import type { Command } from './commander.js';
import { EXIT } from './exit.js';

/** Adds `fw-gen config check|print|schema`. */
export function addConfigCommand(program: Command, { output, run }: CommandContext): void {
  const config = program
    .command('config')
    .description('Checks and shows the configuration. Connects to nothing.');
  withConfig(config.command('check'))
    .description('Validates the configuration. Reports every mistake with its location and exits with 2.')
    .action(({ config: file }: { readonly config: string }) =>
      run(async () => {
        const { sharding } = readConfig(file);
        const shards = sharding.groups.reduce((sum, { members }) => sum + members.length, 0);
        output.info(`${file}: ${shards} shards in ${sharding.groups.length} groups, no mistakes`);
        return EXIT.success;
      }),
    );
  withConfig(config.command('print'))
    .description(
      'Prints the effective configuration as JSON, with defaults and resolved references. Secrets are ***.',
    )
    .action(({ config: file }: { readonly config: string }) =>
      run(async () => {
        output.info(printConfig(readConfig(file)));
        return EXIT.success;
      }),
    );
  config
    .command('schema')
    .description('Prints the JSON Schema of the configuration, for editors.')
    .action(() =>
      run(async () => {
        output.info(JSON.stringify(configSchema(), null, 2));
        return EXIT.success;
      }),
    );
}
