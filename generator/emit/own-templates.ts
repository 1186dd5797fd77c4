import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadPrecompiled } from './built-parts.js';

const here = dirname(fileURLToPath(import.meta.url));

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
    return loadPrecompiled();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}
