/** How the files of a new project get into a folder that may hold some already, by path. */
export interface FittedFiles {
  /** Texts of files to create. */
  readonly created: ReadonlyMap<string, string>;
  /** Texts to add at the end of files that exist. */
  readonly appended: ReadonlyMap<string, string>;
  /** Files of the project that exist, so that the project cannot be made. */
  readonly conflicts: readonly string[];
  /** The file that describes the project. */
  readonly description: string;
}

/** What is in a folder. */
export interface FolderContent {
  /** Names of its files and folders. */
  readonly names: readonly string[];
  readonly has: (path: string) => boolean;
  readonly read: (path: string) => string;
}

const README = 'README.md';
const IGNORED = '.gitignore';

/**
 * Fits a project to a folder such as a new repository, which has a README and a list of ignored files: the README stays
 * and the project is described beside it, and the list gets the lines that it lacks.
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

/** The lines of a list that another list lacks, to add at its end; slashes at the ends of a line do not count. */
function missingLines(wanted: string, existing: string): string {
  const pattern = (line: string): string => line.trim().replace(/^\/|\/$/g, '');
  const known = new Set(existing.split('\n').map(pattern));
  const missing = wanted.split('\n').filter((line) => line !== '' && !known.has(pattern(line)));
  if (missing.length === 0) return '';
  const gap = existing === '' || existing.endsWith('\n') ? '' : '\n';
  return `${gap}${missing.join('\n')}\n`;
}
