import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type Handlebars from 'handlebars';

const require = createRequire(import.meta.url);

/** File of the bundle that contains all of Handlebars, so that users need not install it. */
export const HANDLEBARS_NAME = 'handlebars.cjs';

/** Loads the runtime of Handlebars, which runs precompiled templates. */
export function loadRuntime(): typeof Handlebars {
  return builtHandlebars() ?? require('handlebars/runtime');
}

/** Loads Handlebars with its compiler. */
export function loadHandlebars(): typeof Handlebars {
  return builtHandlebars() ?? require('handlebars');
}

function builtHandlebars(): typeof Handlebars | undefined {
  const built = fileURLToPath(new URL(`../bundle/${HANDLEBARS_NAME}`, import.meta.url));
  return existsSync(built) ? require(built) : undefined;
}

/** File beside this one that the build creates. */
export const PRECOMPILED_NAME = 'precompiled-templates.cjs';

/** Returns precompiled templates and partials by path. @throws MODULE_NOT_FOUND when running from source */
export function loadPrecompiled(): Readonly<Record<string, object>> {
  return require(`./${PRECOMPILED_NAME}`);
}
