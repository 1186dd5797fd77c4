import { root } from './catalogue.js';
import { definitionsOf } from './json-schema.js';

/** The JSON Schema (2020-12) of `fw.config.yaml`, for editors. It contains the rules of the key list and no others. */
export function configSchema(): Readonly<Record<string, unknown>> {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'fw.config.yaml',
    ...root.schema,
    $defs: {
      ...definitionsOf(root.shape),
      reference: {
        description: 'Taken from the environment or from a file.',
        type: 'string',
        pattern: '\\$\\{[^}]+\\}',
      },
    },
  };
}
