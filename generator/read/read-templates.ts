import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { compareText } from '../diagnostics.js';

/** A template in the user's folder. */
export interface UserTemplate {
  /** Project-relative path. */
  readonly file: string;
  /** With LF line ends. */
  readonly text: string;
}

/** Folders of templates, relative to the configured folder; '' is that folder. */
export const TEMPLATE_FOLDERS = ['', 'partials', 'per-model', 'per-action', 'per-project'] as const;

/**
 * Reads the user's templates by path below their folder, without `.hbs`.
 *
 * @param folder project-relative
 * @throws the error of the file system
 */
export function readTemplates(projectDirectory: string, folder: string): ReadonlyMap<string, UserTemplate> {
  const templates = new Map<string, UserTemplate>();
  for (const below of TEMPLATE_FOLDERS) {
    const absolute = join(projectDirectory, folder, below);
    if (below !== '' && !existsSync(absolute)) continue;
    const names = readdirSync(absolute, { withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.hbs'))
      .map(({ name }) => name)
      .sort(compareText);
    for (const name of names) {
      const file = posix.join(folder, below, name);
      const text = readFileSync(join(projectDirectory, file), 'utf8').replace(/^\uFEFF/, '');
      templates.set(posix.join(below, name.slice(0, -'.hbs'.length)), {
        file,
        text: text.replace(/\r\n?/g, '\n'),
      });
    }
  }
  return templates;
}
