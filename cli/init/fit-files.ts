/** How the files of a new project are added to a folder that may already contain files, by path. */
export interface FittedFiles {
  /** Texts of files to create. */
  readonly created: ReadonlyMap<string, string>;
  /** Texts to append to existing files. */
  readonly appended: ReadonlyMap<string, string>;
  /** Existing files that prevent the project from being created. */
  readonly conflicts: readonly string[];
  /** The file that describes the project. */
  readonly description: string;
}

/** The content of a folder. */
export interface FolderContent {
  /** Names of its files and folders. */
  readonly names: readonly string[];
  readonly has: (path: string) => boolean;
  readonly read: (path: string) => string;
}

const README = 'README.md';
const IGNORED = '.gitignore';

/**
 * Adapts a project to a folder such as a new repository, which has a README and a .gitignore: the README stays, the
 * project's description gets another name, and missing lines are appended to the .gitignore.
 */
export function fitFiles(
  files: ReadonlyMap<string, string>,
  { names, has, read }: FolderContent,
): FittedFiles {
  const description = names.some((name) => /^readme(\.\w+)?$/i.test(name)) ? 'DEVELOPMENT.md' : README;
  const created = new Map([...files].map(([path, text]) => [path === README ? description : path, text]));
  const appended = new Map<string, string>();
  const lines = created.get(IGNORED);
  if (lines !== undefined && has(IGNORED)) {
    created.delete(IGNORED);
    const added = missingLines(lines, read(IGNORED));
    if (added !== '') appended.set(IGNORED, added);
  }
  return { created, appended, conflicts: [...created.keys()].filter(has), description };
}

/** The lines of a list that another list lacks, to append to it. Ignores slashes at the ends of lines. */
function missingLines(wanted: string, existing: string): string {
  const pattern = (line: string): string => line.trim().replace(/^\/|\/$/g, '');
  const known = new Set(existing.split('\n').map(pattern));
  const missing = wanted.split('\n').filter((line) => line !== '' && !known.has(pattern(line)));
  if (missing.length === 0) return '';
  const gap = existing === '' || existing.endsWith('\n') ? '' : '\n';
  return `${gap}${missing.join('\n')}\n`;
}
