import { configSchema, loadConfig, printConfig } from '../runtime/config/index.js';
import { CONFIG, type CommandEntry, command } from './command.js';
import { counted } from './terminal-text.js';

/** `fw-gen config` */
export const CONFIGURATION: CommandEntry = {
  name: 'config',
  about: 'Checks and shows the configuration. Connects to nothing.',
  commands: [
    command({
      name: 'check',
      about: 'Validates the configuration. Reports every mistake with its location and exits with 2.',
      inputs: CONFIG,
      run: async ({ config }) => {
        const { groups } = loadConfig(config).sharding;
        const shards = groups.reduce((sum, { members }) => sum + members.length, 0);
        const count = `${counted(shards, 'shard')} in ${counted(groups.length, 'group')}`;
        return { lines: [`${config}: ${count}, no mistakes`] };
      },
    }),
    command({
      name: 'print',
      about:
        'Prints the effective configuration as JSON, with defaults and resolved references. Secrets are ***.',
      inputs: CONFIG,
      run: async ({ config }) => ({ lines: [printConfig(loadConfig(config))] }),
    }),
    command({
      name: 'schema',
      about: 'Prints the JSON Schema of the configuration, for editors.',
      inputs: {},
      run: async () => ({ lines: [JSON.stringify(configSchema(), null, 2)] }),
    }),
  ],
};
