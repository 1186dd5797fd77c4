import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { plainText } from '../../generator/content-hash.js';
import { CONFIG, type CommandEntry, command, flag, value } from '../command.js';
import { fileText } from '../file-text.js';
import { InputError } from '../input-error.js';
import { writeOutput } from '../make-files.js';
import { projectFolders, readProjectConfig } from '../project.js';
import { counted } from '../terminal-text.js';

/** `fw-gen connectors` */
export const CONNECTORS: CommandEntry = command({
  name: 'connectors',
  about:
    'Writes the Debezium connector of each shard: settings of the stock outbox event router, SQL for publication, role and slot, and a guide.',
  examples: [
    ['fw-gen connectors', 'writes connectors/'],
    ['fw-gen connectors --check', 'for CI, where the files are committed'],
  ],
  inputs: {
    ...CONFIG,
    output: value('--output <folder>', 'where the files are written', (folder) => folder, 'connectors'),
    check: flag('--check', 'writes nothing; exits with 1 if the files do not match the configuration'),
  },
  run: async ({ config, output: folder, check }) => {
    const { connectorFiles } = await import('../../runtime/operations.js');
    const { namespace, sharding } = readProjectConfig(config, ['sharding']);
    if (sharding === undefined) throw new TypeError('used shards are known');
    const files = connectorFiles({ namespace, sharding });
    const stale = [...files].filter(([name, text]) => plainText(fileText(join(folder, name)) ?? '') !== text);
    const left = (existsSync(folder) ? readdirSync(folder) : [])
      .filter((name) => /^\d+-\d+\.(json|sql)$/.test(name) && !files.has(name))
      .map((name) => `${join(folder, name)} belongs to no shard of the configuration. Delete it.`);
    if (check === true) {
      const errors = stale.map(
        ([name]) => `${join(folder, name)} does not match the configuration. Run: fw-gen connectors`,
      );
      return { errors: [...errors, ...left], isDrift: errors.length + left.length > 0 };
    }
    for (const [name, text] of stale) writeOutput(join(folder, name), text);
    return {
      lines: [
        `${counted(stale.length, 'file')} written in ${folder}, ${files.size - stale.length} unchanged`,
      ],
      errors: left,
    };
  },
});

/** `fw-gen schemas` */
export const SCHEMAS: CommandEntry = command({
  name: 'schemas',
  about:
    'Writes the JSON Schema of every version of every event from events.lock, for a registry or for receivers.',
  examples: [['fw-gen schemas', 'writes schemas/<event>/<version>.json']],
  inputs: {
    ...CONFIG,
    output: value('--output <folder>', 'where the files are written', (folder) => folder, 'schemas'),
  },
  run: async ({ config: file, output: folder }) => {
    const config = readProjectConfig(file, ['generator', 'relay.schemaBaseUrl', 'relay.schema-base-url']);
    const { readEventLock } = await import('../../runtime/operations.js');
    const path = join(projectFolders(config).migrationsDirectory, 'events.lock');
    const lock = fileText(path);
    if (lock === undefined) throw new InputError(`${path} cannot be read. fw-gen generate writes it.`);
    const schemas = readEventLock(lock, config.relay?.schemaBaseUrl);
    for (const { eventType, version, schema } of schemas)
      writeOutput(join(folder, eventType, `${version}.json`), `${JSON.stringify(schema, null, 2)}\n`);
    return { lines: [`${counted(schemas.length, 'schema')} written in ${folder}`] };
  },
});
