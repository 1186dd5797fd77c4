import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Handlebars from 'handlebars';
import { configSchema } from '../../runtime/config/index.js';
import { COMPILE_OPTIONS, ownTemplateText, PARTIALS, PRECOMPILED_NAME, TEMPLATES } from './own-templates.js';

/**
 * Build step. Compiles this package's templates, so that users do not load the compiler, and writes the JSON Schema of
 * the configuration, to which new projects refer for editors.
 */
const paths = [...Object.keys(TEMPLATES), ...PARTIALS.map((partial) => `partials/${partial}`)];
const entries = paths.map(
  (path) =>
    `${JSON.stringify(path)}: ${String(Handlebars.precompile(ownTemplateText(path), COMPILE_OPTIONS))}`,
);
const folder = dirname(fileURLToPath(import.meta.url));
writeFileSync(join(folder, PRECOMPILED_NAME), `module.exports = {\n${entries.join(',\n')}\n};\n`);
writeFileSync(join(folder, '../config.schema.json'), `${JSON.stringify(configSchema(), null, 2)}\n`);
