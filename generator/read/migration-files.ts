import { type MigrationHeader, readDirective, readMigrationHeader } from '../../runtime/migration-header.js';
import { compareText, type Diagnostic, diagnostic } from '../diagnostics.js';

/** The parsed name of a file in the migrations folder. */
export interface MigrationFileName {
  /** Without extension: `20260301090000_create_wallets`. */
  readonly name: string;
  readonly language: 'sql' | 'ts';
}

const NUMBERED = /^\d{4,}_[\w-]+$/;

/** Parses a file name. @returns undefined for tests, type declarations and files of other kinds */
export function migrationFileName(file: string): MigrationFileName | undefined {
  const language = file.endsWith('.sql') ? 'sql' : file.endsWith('.ts') ? 'ts' : undefined;
  if (language === undefined || /\.(d|test|test-d)\.ts$/.test(file)) return undefined;
  return { name: file.slice(file.lastIndexOf('/') + 1, -language.length - 1), language };
}

/** Returns the migrations among the files of a folder, in order. */
export function migrationFilesOf(names: readonly string[]): readonly string[] {
  return names.filter((name) => migrationFileName(name) !== undefined).sort(compareText);
}

/** Whether the name starts with a time, or with a number as in `0001_create_wallets`. */
export function isMigrationName(name: string): boolean {
  return NUMBERED.test(name);
}

const TEMPLATE = /\bdefineMigration\([^`]*`([\s\S]*)/;

/** Returns what the header of a migration declares of its place, without parsing a module. */
export function migrationPlace(
  text: string,
  language: 'sql' | 'ts',
): Pick<MigrationHeader, 'after' | 'tables'> {
  const { after, tables } = readMigrationHeader(language === 'sql' ? text : (TEMPLATE.exec(text)?.[1] ?? ''));
  return { ...(after === undefined ? {} : { after }), ...(tables === undefined ? {} : { tables }) };
}

/** Reports files with the same name, such as `0002_x.sql` and `0002_x.ts`, except the first of each name. */
export function namesakes(files: readonly string[]): readonly Diagnostic[] {
  const first = new Map<string, string>();
  return files.flatMap((file) => {
    const name = migrationFileName(file)?.name ?? file;
    const other = first.get(name);
    if (other === undefined) {
      first.set(name, file);
      return [];
    }
    const message = `The migration has the same name as ${other}`;
    return [diagnostic('FWGEN035', { file }, message, 'Rename or delete one of them.')];
  });
}

const DIRECTIVE = /^\s*--\s*fw-gen:\s*(.*?)\s*$/;
const BLANK_OR_COMMENT = /^\s*(--.*)?$/;

/** Checks the text of an `.sql` file without a server. @returns the first mistake; undefined if there is none */
export function sqlMistake(file: string, text: string): Diagnostic | undefined {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => !BLANK_OR_COMMENT.test(line));
  const problem = (line: number, message: string, hint: string): Diagnostic =>
    diagnostic('FWGEN035', { file, line: line + 1, column: 1 }, message, hint);
  if (first < 0) return problem(0, 'The file contains no SQL', 'Write the statements, or delete the file.');
  const broken = lines.findIndex((line) => /[\0\uFFFD]/.test(line));
  if (broken >= 0) return problem(broken, 'The text is not UTF-8', 'Save the file as UTF-8.');
  for (const [index, line] of lines.entries()) {
    const directive = DIRECTIVE.exec(line)?.[1];
    if (directive === undefined) continue;
    const isKnown = readDirective(directive) !== undefined;
    if (isKnown && index < first) continue;
    return problem(
      index,
      isKnown
        ? 'The directive is below the first statement, where it has no effect'
        : `Unknown directive "fw-gen: ${directive}"`,
      isKnown
        ? 'Move the comment above the first statement.'
        : 'Write `-- fw-gen: no transaction` or `-- fw-gen: tables <names>` above the first statement, or remove the comment.',
    );
  }
  return undefined;
}

/** A table of another schema than `public` is no table of a model. */
const CREATE_TABLE =
  /\bcreate\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?(?:(?:public|"public")\s*\.\s*)?(?:"((?:[^"]|"")+)"|([\p{L}_][\p{L}\p{N}_$]*))(?![\p{L}\p{N}_$"]|\s*\.)/giu;

/** Returns the names of the tables that a text of SQL statements creates. */
export function createdTables(text: string): readonly string[] {
  return [...text.matchAll(CREATE_TABLE)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain?.toLowerCase() ?? '',
  );
}
