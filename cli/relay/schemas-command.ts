import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  type CommandContext,
  InputError,
  projectFolders,
  readProjectConfig,
  withConfig,
} from '../command-context.js';
import type { Command } from '../commander.js';
import { expectFailures } from '../database-failures.js';
import { EXIT, type ExitCode } from '../exit.js';
import { examples } from '../help.js';

interface SchemasFlags {
  readonly config: string;
  readonly output: string;
}

/** Adds `fw-gen schemas`. */
export function addSchemasCommand(program: Command, context: CommandContext): void {
  withConfig(program.command('schemas'))
    .description(
      'Writes the JSON Schema of every version of every event from events.lock, for a registry or for receivers.',
    )
    .option('--output <folder>', 'where the files are written', 'schemas')
    .addHelpText('after', examples(['fw-gen schemas', 'writes schemas/<event>/<version>.json']))
    .action((flags: SchemasFlags) => context.run(() => expectFailures(() => writeSchemas(flags, context))));
}

async function writeSchemas(
  { config: file, output: folder }: SchemasFlags,
  { output }: CommandContext,
): Promise<ExitCode> {
  const config = readProjectConfig(file, ['generator', 'relay.schemaBaseUrl', 'relay.schema-base-url']);
  const { readEventLock } = await import('../../runtime/operations.js');
  const lock = join(projectFolders(config).migrationsDirectory, 'events.lock');
  const schemas = readEventLock(readLock(lock), config.relay?.schemaBaseUrl);
  for (const { eventType, version, schema } of schemas) {
    const path = join(folder, eventType, `${version}.json`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${JSON.stringify(schema, null, 2)}\n`);
  }
  output.info(`${schemas.length} schemas written in ${folder}`);
  return EXIT.success;
}

/** @throws InputError if the file is missing */
function readLock(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new InputError(`${path} cannot be read. fw-gen generate writes it.`);
  }
}
