import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { plainText } from '../content-hash.js';
import { compareText } from '../diagnostics.js';

/** A template in the user's folder. */
export interface UserTemplate {
  /** Project-relative path. */
  readonly file: string;
  /** With LF line ends. */
  readonly text: string;
}

/**
 * Reads the user's templates by path below their folder, without `.hbs`.
 *
 * @param folder project-relative
 * @throws the error of the file system
 */
export function readTemplates(projectDirectory: string, folder: string): ReadonlyMap<string, UserTemplate> {
  const directory = join(projectDirectory, folder);
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.hbs') && statSync(join(directory, name)).isFile())
    .map((name) => name.replaceAll('\\', '/'))
    .sort(compareText);
  return new Map(
    names.map((name) => {
      const file = posix.join(folder, name);
      const text = plainText(readFileSync(join(projectDirectory, file), 'utf8'));
      return [name.slice(0, -'.hbs'.length), { file, text }];
    }),
  );
}
