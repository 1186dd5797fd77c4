import { readDirective, readMigrationHeader } from '../../runtime/migration-header.js';
import { plainText } from '../content-hash.js';
import { compareText, type Diagnostic, diagnostic } from '../diagnostics.js';
import { defined } from '../schema/defined.js';
import type { MigrationFile } from '../schema/project-schema.js';

/** The name starts with a time, or with a number as in `0001_create_wallets`. */
const NAME = /^\d{4,}_[\w-]+$/;
/** A module, and what is in a folder below, are listed too, because they are reported. Tests and type declarations are not. */
const LISTED = /\.(?:sql|SQL)$|^[^/]*(?<!\.(?:d|test|test-d))\.ts$/;

/** Returns the migrations among the files of a folder, in order. */
export function migrationFilesOf(names: readonly string[]): readonly string[] {
  return names.filter((name) => LISTED.test(name)).sort((a, b) => compareText(nameOf(a), nameOf(b)));
}

function nameOf(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1).replace(/\.\w+$/, '');
}

/** Reads a file of the migrations folder. Migrations belong to the user and are never rewritten. */
export function readMigration(file: string, text: string, folder: string): MigrationFile | Diagnostic {
  const name = nameOf(file);
  const mistake = (message: string, hint: string): Diagnostic =>
    diagnostic('FWGEN035', { file }, message, hint);
  if (file.endsWith('.ts'))
    return mistake('A migration is plain SQL', `Write its SQL in ${name}.sql, and delete this file.`);
  if (file.lastIndexOf('/') > folder.length)
    return mistake('Migrations in folders below are not read', `Move it to ${folder}, or out of it.`);
  if (!NAME.test(name))
    return mistake('The file name does not start with a time', 'Name it like 20260301090000_add_index.sql.');
  const up = plainText(text);
  const { after, tables } = readMigrationHeader(up);
  return sqlMistake(file, up) ?? { file, name, up, ...defined({ after, tables }), ...changedTables(up) };
}

const DIRECTIVE = /^\s*--\s*fw-gen:\s*(.*?)\s*$/;
const BLANK_OR_COMMENT = /^\s*(--.*)?$/;

/** Checks the text of a migration without a server. @returns the first mistake; undefined if there is none */
function sqlMistake(file: string, text: string): Diagnostic | undefined {
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
const TABLE = String.raw`(?:(?:public|"public")\s*\.\s*)?(?:"((?:[^"]|"")+)"|([\p{L}_][\p{L}\p{N}_$]*))(?![\p{L}\p{N}_$"]|\s*\.)`;
const RENAME = String.raw`alter\s+table\s+[^;]*?\srename\s+to\s`;
const CREATE_TABLE = new RegExp(
  String.raw`\b(?:create\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?|${RENAME}\s*)${TABLE}`,
  'giu',
);
const DROP_TABLE = new RegExp(
  String.raw`\b(?:drop|(?=${RENAME})alter)\s+table\s+(?:if\s+exists\s+)?(?:only\s+)?${TABLE}`,
  'giu',
);
/** Comments, and what may contain their marks. */
const COMMENT =
  /(\be'[^'\\]*(?:(?:\\.|'')[^'\\]*)*'|(?:'[^']*')+|(?:"[^"]*")+|\$(\w*)\$.*?\$\2\$)|--[^\n]*|\/\*.*?\*\//gis;

/** Returns the names of the tables that a text of SQL statements creates, and of those that are gone then. */
function changedTables(text: string): Pick<MigrationFile, 'creates' | 'drops'> {
  const sql = text.replace(COMMENT, (_, kept: string | undefined) => kept ?? ' ');
  const namesIn = (pattern: RegExp): readonly string[] =>
    [...sql.matchAll(pattern)].map(
      ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain?.toLowerCase() ?? '',
    );
  return { creates: namesIn(CREATE_TABLE), drops: namesIn(DROP_TABLE) };
}
