import { createRequire } from 'node:module';
import type Handlebars from 'handlebars';

const require = createRequire(import.meta.url);

/** Loads the runtime of Handlebars, which runs precompiled templates. */
export function loadRuntime(): typeof Handlebars {
  return require('handlebars/runtime');
}

/** Loads Handlebars with its compiler. */
export function loadHandlebars(): typeof Handlebars {
  return require('handlebars');
}

/** File in this folder that the build creates. */
export const PRECOMPILED_NAME = 'precompiled-templates.cjs';

/** Returns precompiled templates and partials by path. @throws MODULE_NOT_FOUND when running from source */
export function loadPrecompiled(): Readonly<Record<string, object>> {
  // By its folder, because this module is also part of the bundle.
  return require(`../emit/${PRECOMPILED_NAME}`);
}
