import { createRequire } from 'node:module';
import type Handlebars from 'handlebars';

const require = createRequire(import.meta.url);

/** What runs templates that are compiled already. */
export function loadRuntime(): typeof Handlebars {
  return require('handlebars/runtime');
}

/** Name of the file beside this one that the build makes. */
export const PRECOMPILED_NAME = 'precompiled-templates.cjs';

/** Templates and partials as the build compiled them, by path. @throws MODULE_NOT_FOUND when running from source */
export function loadPrecompiled(): Readonly<Record<string, object>> {
  return require(`./${PRECOMPILED_NAME}`);
}
