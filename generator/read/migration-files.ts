import { compareText, type Diagnostic, diagnostic } from '../diagnostics.js';

/** What a file of the migrations folder is by its name. Others (tests, declarations, notes) are none. */
export interface MigrationFileName {
  /** Without extension: `0001_create_wallets`. */
  readonly name: string;
  readonly language: 'sql' | 'ts';
}

const NUMBERED = /^\d{4,}_[\w-]+$/;

/** undefined for a file that is no migration and does not look like one. */
export function migrationFileName(file: string): MigrationFileName | undefined {
  const language = file.endsWith('.sql') ? 'sql' : file.endsWith('.ts') ? 'ts' : undefined;
  if (language === undefined || /\.(d|test|test-d)\.ts$/.test(file)) return undefined;
  return { name: file.slice(file.lastIndexOf('/') + 1, -language.length - 1), language };
}

/** Names of a folder's files that are migrations, in their order. */
export function migrationFilesOf(names: readonly string[]): readonly string[] {
  return names.filter((name) => migrationFileName(name) !== undefined).sort(compareText);
}

/** The number that the name begins with. */
export function migrationNumber(name: string): number | undefined {
  return NUMBERED.test(name) ? Number(/^\d+/.exec(name)?.[0]) : undefined;
}

/** Files that have one name, such as `0002_x.sql` and `0002_x.ts`: a mistake for all but the first of each. */
export function namesakes(files: readonly string[]): readonly Diagnostic[] {
  const first = new Map<string, string>();
  return files.flatMap((file) => {
    const name = migrationFileName(file)?.name ?? file;
    const other = first.get(name);
    if (other === undefined) {
      first.set(name, file);
      return [];
    }
    const message = `The migration has the name of ${other}`;
    return [diagnostic('FWGEN035', { file }, message, 'Give it another name, or delete one of them.')];
  });
}

const DIRECTIVE = /^\s*--\s*fw-gen:\s*(.*?)\s*$/;
const BLANK_OR_COMMENT = /^\s*(--.*)?$/;

/**
 * The mistake in the text of an `.sql` file, as far as it can be found without a server; undefined if there is none.
 */
export function sqlMistake(file: string, text: string): Diagnostic | undefined {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => !BLANK_OR_COMMENT.test(line));
  const problem = (line: number, message: string, hint: string): Diagnostic =>
    diagnostic('FWGEN035', { file, line: line + 1, column: 1 }, message, hint);
  if (first < 0) return problem(0, 'The file holds no SQL', 'Write the statements, or delete the file.');
  const broken = lines.findIndex((line) => /[\0\uFFFD]/.test(line));
  if (broken >= 0) return problem(broken, 'The text is not UTF-8', 'Save the file as UTF-8.');
  for (const [index, line] of lines.entries()) {
    const directive = DIRECTIVE.exec(line)?.[1];
    if (directive === undefined || (directive === 'no transaction' && index < first)) continue;
    return problem(
      index,
      directive === 'no transaction'
        ? 'The comment stands below the first statement, where it means nothing'
        : `The comment has the unknown directive "fw-gen: ${directive}"`,
      'Write `-- fw-gen: no transaction` above the first statement, or leave the comment out.',
    );
  }
  return undefined;
}
