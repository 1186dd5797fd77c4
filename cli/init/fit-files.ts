import { fitManifest } from './fit-manifest.js';

/** How the files of a new project are added to a folder that may already contain files, by path. */
export interface FittedFiles {
  /** Texts of files to create. */
  readonly created: ReadonlyMap<string, string>;
  /** New texts of existing files. */
  readonly changed: ReadonlyMap<string, string>;
  /** Keys of package.json whose values `npm init` had written. */
  readonly replaced: readonly string[];
  /** What prevents the project from being created: existing files, and keys of package.json with other values. */
  readonly conflicts: readonly string[];
  /** The file that describes the project. */
  readonly description: string;
  /** Configurations of formatters that stay as they are, and should ignore the generated files. */
  readonly formatters: readonly string[];
}

/** The content of a folder. */
export interface FolderContent {
  /** Names of its files and folders. */
  readonly names: readonly string[];
  readonly has: (path: string) => boolean;
  readonly read: (path: string) => string;
}

const README = 'README.md';
/** Lists of patterns, one per line. */
const LISTS = ['.gitignore', '.gitattributes', '.prettierignore'];
/** Files that one of these existing files replaces. */
const FORMATTERS: ReadonlyMap<string, RegExp> = new Map([
  ['biome.json', /^\.?biome\.jsonc?$/],
  ['eslint.config.js', /^eslint\.config\.[cm]?[jt]s$|^\.eslintrc/],
]);
const MANIFEST = 'package.json';

/**
 * Adapts a project to a folder such as a new repository, which has a README and a .gitignore, or one in which
 * `npm install` has made a package.json. The README stays, and the project's description gets another name. Missing
 * lines are added to lists such as the .gitignore, and missing keys to the package.json. Configurations of formatters
 * stay.
 */
export function fitFiles(
  files: ReadonlyMap<string, string>,
  { names, has, read }: FolderContent,
): FittedFiles {
  const description = names.some((name) => /^readme(\.\w+)?$/i.test(name)) ? 'DEVELOPMENT.md' : README;
  const created = new Map([...files].map(([path, text]) => [path === README ? description : path, text]));
  const changed = new Map<string, string>();
  const conflicts: string[] = [];
  const replaced: string[] = [];
  const change = (path: string, combine: (wanted: string, existing: string) => string): void => {
    const wanted = created.get(path);
    if (wanted === undefined || !has(path)) return;
    created.delete(path);
    const existing = read(path);
    const text = combine(wanted, existing);
    if (text !== existing) changed.set(path, text);
  };
  for (const path of LISTS) change(path, withMissingLines);
  change(MANIFEST, (wanted, existing) => {
    try {
      const fitted = fitManifest(wanted, existing);
      replaced.push(...fitted.replaced);
      conflicts.push(...fitted.conflicts.map((key) => `${MANIFEST} (${key})`));
      return fitted.text;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      conflicts.push(`${MANIFEST} (not a JSON object)`);
      return existing;
    }
  });
  const formatters = [...FORMATTERS].flatMap(([path, existing]) => {
    const found = names.filter((name) => existing.test(name));
    if (found.length > 0) created.delete(path);
    return found;
  });
  conflicts.push(...[...created.keys()].filter(has));
  return { created, changed, replaced, conflicts, description, formatters };
}

/** Appends the lines that a list lacks. Ignores slashes at the ends of lines. */
function withMissingLines(wanted: string, existing: string): string {
  const pattern = (line: string): string => line.trim().replace(/^\/|\/$/g, '');
  const known = new Set(existing.split('\n').map(pattern));
  const missing = wanted.split('\n').filter((line) => line !== '' && !known.has(pattern(line)));
  if (missing.length === 0) return existing;
  const gap = existing === '' || existing.endsWith('\n') ? '' : '\n';
  return `${existing}${gap}${missing.join('\n')}\n`;
}
