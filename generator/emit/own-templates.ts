import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type Handlebars from 'handlebars';

const require = createRequire(import.meta.url);
const here = dirname(fileURLToPath(import.meta.url));

/** This package's templates and the view of each. */
export const TEMPLATES = {
  application: 'ApplicationView',
  client: 'ClientView',
  migration: 'MigrationView',
  model: 'ModelView',
  part: 'PartView',
  server: 'ServerView',
  versions: 'VersionsView',
} as const;

export type TemplateName = keyof typeof TEMPLATES;

/** Partials that every template may use. */
export const PARTIALS = [
  'action',
  'doc',
  'event',
  'field',
  'handler',
  'header',
  'imports',
  'repository',
  'response',
] as const;

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

/** File in this folder that the build creates. */
export const PRECOMPILED_NAME = 'precompiled-templates.cjs';

/**
 * Returns the text of one of this package's templates, with LF line ends. @param path below `templates/`, without
 * extension
 */
export function ownTemplateText(path: string): string {
  return readFileSync(join(ownTemplatesFolder(), `${path}.hbs`), 'utf8').replace(/\r\n/g, '\n');
}

/** Returns `templates/` of the package. Source and build have different depths below the package's root. */
export function ownTemplatesFolder(): string {
  const root = here.slice(0, here.lastIndexOf('generator')).replace(/dist[/\\]$/, '');
  return join(root, 'templates');
}

/** Returns precompiled templates and partials by path; undefined when running from source. */
export function precompiledTemplates(): Readonly<Record<string, object>> | undefined {
  try {
    // By its folder, because this module is also part of the bundle.
    return require(`../emit/${PRECOMPILED_NAME}`);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}
