import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadPrecompiled } from './built-parts.js';

const here = dirname(fileURLToPath(import.meta.url));

/** The text of one of this package's templates, with LF line ends. @param path below `templates/`, without extension */
export function ownTemplateText(path: string): string {
  return readFileSync(join(ownTemplatesFolder(), `${path}.hbs`), 'utf8').replace(/\r\n/g, '\n');
}

/** A file that every client gets as it is. */
export type ClientPart = 'client-errors' | 'client-runtime' | 'client-stream';

/** Its text, with LF line ends. */
export function clientPartText(name: ClientPart): string {
  return readFileSync(join(ownTemplatesFolder(), `${name}.ts`), 'utf8')
    .replace(/\r\n/g, '\n')
    .trimEnd();
}

/** `templates/` of the package: this file lies below its root, at one depth as source and at another as built. */
function ownTemplatesFolder(): string {
  const root = here.slice(0, here.lastIndexOf('generator')).replace(/dist[/\\]$/, '');
  return join(root, 'templates');
}

/** Templates and partials as the build compiled them, by path; undefined when running from source. */
export function precompiledTemplates(): Readonly<Record<string, object>> | undefined {
  try {
    return loadPrecompiled();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}
