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

/** A name that the view does not have is an error. Nothing is escaped for HTML, because views contain source text. */
export const COMPILE_OPTIONS = { noEscape: true, strict: true, knownHelpersOnly: true } as const;
