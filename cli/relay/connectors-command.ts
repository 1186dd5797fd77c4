import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandContext, readProjectConfig, withConfig } from '../command-context.js';
import type { Command } from '../commander.js';
import { expectFailures } from '../database-failures.js';
import { EXIT, type ExitCode } from '../exit.js';
import { examples } from '../help.js';

interface ConnectorsFlags {
  readonly config: string;
  readonly output: string;
  readonly check?: boolean;
}

/** Adds `fw-gen connectors`. */
export function addConnectorsCommand(program: Command, context: CommandContext): void {
  withConfig(program.command('connectors'))
    .description(
      'Writes the Debezium connector of each shard: settings of the stock outbox event router, SQL for publication, role and slot, and a guide.',
    )
    .option('--output <folder>', 'where the files are written', 'connectors')
    .option('--check', 'writes nothing; exits with 1 if the files do not match the configuration')
    .addHelpText(
      'after',
      examples(
        ['fw-gen connectors', 'writes connectors/'],
        ['fw-gen connectors --check', 'for CI, where the files are committed'],
      ),
    )
    .action((flags: ConnectorsFlags) => context.run(() => expectFailures(() => connectors(flags, context))));
}

async function connectors(
  { config, output: folder, check = false }: ConnectorsFlags,
  { output }: CommandContext,
): Promise<ExitCode> {
  const { connectorFiles } = await import('../../runtime/operations.js');
  const { namespace, sharding } = readProjectConfig(config, ['sharding']);
  if (sharding === undefined) throw new TypeError('used shards are known');
  const files = connectorFiles({ namespace, sharding });
  const stale = [...files].filter(([name, text]) => readText(join(folder, name)) !== text);
  for (const [name, text] of stale) {
    const path = join(folder, name);
    if (check) output.error(`${path} does not match the configuration. Run: fw-gen connectors`);
    else {
      mkdirSync(folder, { recursive: true });
      writeFileSync(path, text);
    }
  }
  if (check) return stale.length === 0 ? EXIT.success : EXIT.drift;
  output.info(`${stale.length} files written in ${folder}, ${files.size - stale.length} unchanged`);
  return EXIT.success;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
