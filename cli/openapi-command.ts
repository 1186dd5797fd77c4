import { CONFIG, type CommandEntry, command, text } from './command.js';
import { writeOutput } from './make-files.js';
import { generateOptions, readProjectConfig, requireNone } from './project.js';

/** `fw-gen openapi` */
export const OPENAPI: CommandEntry = command({
  name: 'openapi',
  about: 'Prints the OpenAPI document of the routes. Reads the sources and starts nothing.',
  examples: [
    ['fw-gen openapi', 'prints the document'],
    ['fw-gen openapi --out openapi.json', 'writes it, for clients and linters'],
  ],
  inputs: { ...CONFIG, out: text('--out <file>', 'write the document to this file') },
  run: async ({ config: file, out }) => {
    const config = readProjectConfig(file, ['generator', 'access', 'http.contact', 'http.license']);
    const { access, http } = config;
    const { describeApi } = await import('../generator/openapi.js');
    const described = await describeApi({ ...generateOptions(config), access, http });
    if ('diagnostics' in described) requireNone(described.diagnostics);
    else if (out === undefined) return { lines: [described.text] };
    else writeOutput(out, `${described.text}\n`);
    return {};
  },
});
