import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Handlebars from 'handlebars';
import { COMPILE_OPTIONS } from './compile-options.js';
import { ownTemplateText, PRECOMPILED_NAME } from './own-templates.js';
import { PARTIALS, TEMPLATES } from './template-names.js';

/** A step of the build: compiles this package's templates, so that users need not load the compiler. */
const paths = [...Object.keys(TEMPLATES), ...PARTIALS.map((partial) => `partials/${partial}`)];
const entries = paths.map(
  (path) =>
    `${JSON.stringify(path)}: ${String(Handlebars.precompile(ownTemplateText(path), COMPILE_OPTIONS))}`,
);
const file = join(dirname(fileURLToPath(import.meta.url)), PRECOMPILED_NAME);
writeFileSync(file, `module.exports = {\n${entries.join(',\n')}\n};\n`);
