import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

/** The text of one of this package's templates, with LF line ends. @param path below `templates/`, without extension */
export function ownTemplateText(path: string): string {
  return readFileSync(join(ownTemplatesFolder(), `${path}.hbs`), 'utf8').replace(/\r\n/g, '\n');
}

/** `templates/` of the package: this file lies below its root, at one depth as source and at another as built. */
function ownTemplatesFolder(): string {
  const root = here.slice(0, here.lastIndexOf('generator')).replace(/dist[/\\]$/, '');
  return join(root, 'templates');
}

/** Name of the file beside this one that the build makes. */
export const PRECOMPILED_NAME = 'precompiled-templates.cjs';

/** Templates and partials as the build compiled them, by path; undefined when running from source. */
export function precompiledTemplates(): Readonly<Record<string, object>> | undefined {
  try {
    return createRequire(import.meta.url)(`./${PRECOMPILED_NAME}`);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}
