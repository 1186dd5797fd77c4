import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type Handlebars from 'handlebars';

const require = createRequire(import.meta.url);

/** Name of the file of the bundle that holds all of Handlebars, so that users need not install it. */
export const HANDLEBARS_NAME = 'handlebars.cjs';

/** What runs templates that are compiled already. */
export function loadRuntime(): typeof Handlebars {
  return builtHandlebars() ?? require('handlebars/runtime');
}

/** What compiles templates, too. */
export function loadHandlebars(): typeof Handlebars {
  return builtHandlebars() ?? require('handlebars');
}

function builtHandlebars(): typeof Handlebars | undefined {
  const built = fileURLToPath(new URL(`../bundle/${HANDLEBARS_NAME}`, import.meta.url));
  return existsSync(built) ? require(built) : undefined;
}

/** Name of the file beside this one that the build makes. */
export const PRECOMPILED_NAME = 'precompiled-templates.cjs';

/** Templates and partials as the build compiled them, by path. @throws MODULE_NOT_FOUND when running from source */
export function loadPrecompiled(): Readonly<Record<string, object>> {
  return require(`./${PRECOMPILED_NAME}`);
}
