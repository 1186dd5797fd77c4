import { type MigrationHeader, readDirective, readMigrationHeader } from '../../runtime/migration-header.js';
import { plainText } from '../content-hash.js';
import { compareText, type Diagnostic, diagnostic } from '../diagnostics.js';
import type { MigrationFile } from '../schema/project-schema.js';
import { ts } from './compiler.js';
import type { ReadContext } from './read-context.js';
import { bareExpression } from './syntax.js';

/** The parsed name of a file in the migrations folder. */
interface MigrationFileName {
  /** Without extension: `20260301090000_create_wallets`. */
  readonly name: string;
  readonly language: 'sql' | 'ts';
}

/** The name starts with a time, or with a number as in `0001_create_wallets`. */
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
const CREATE_TABLE =
  /\bcreate\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?(?:(?:public|"public")\s*\.\s*)?(?:"((?:[^"]|"")+)"|([\p{L}_][\p{L}\p{N}_$]*))(?![\p{L}\p{N}_$"]|\s*\.)/giu;

/** Returns the names of the tables that a text of SQL statements creates. */
function createdTables(text: string): readonly string[] {
  return [...text.matchAll(CREATE_TABLE)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain?.toLowerCase() ?? '',
  );
}

/** `export const migration = ...` or `export { other, migration }` */
const EXPORTS_MIGRATION = /^export (?:const migration\b|\{[^}]*\bmigration\s*[,}])/m;

/** Reads a file of the migrations folder as text. Migrations belong to the user and are never rewritten. */
export function readMigration(context: ReadContext, file: string): MigrationFile | undefined {
  const { name = '', language } = migrationFileName(file) ?? {};
  const isNamed = NUMBERED.test(name);
  const text = context.sources.text(file) ?? '';
  if (isNamed && language === 'sql') {
    const mistake = sqlMistake(file, text);
    if (mistake !== undefined) context.diagnostics.push(mistake);
    return { file, name, ...migrationPlace(text, language), creates: createdTables(text), sql: text };
  }
  const isMigration = EXPORTS_MIGRATION.test(text);
  if (!isNamed || language !== 'ts' || !isMigration) {
    const message = isNamed
      ? 'The file does not export `migration`'
      : 'The file name does not start with a time';
    const hint =
      language === 'sql'
        ? 'Name it like 20260301090000_add_index.sql.'
        : 'Name it like 20260301090000_add_index.ts, and write `export const migration: Migration = defineMigration(...)`.';
    context.diagnostics.push(diagnostic('FWGEN035', { file }, message, hint));
    return undefined;
  }
  return { file, name, ...migrationPlace(text, language), creates: createdTables(text) };
}

/** The content of a migration's file. */
export interface MigrationText {
  readonly name: string;
  /** SQL exactly as the application sends it. */
  readonly up: string;
  /** Position of the SQL, if its lines are lines of the file. */
  readonly origin?: { readonly file: string; readonly line: number };
}

/** Reads the SQL of an `.sql` file or of a migration module from the text. Does not execute the module. */
export function readMigrationSql(file: string, text: string): MigrationText | Diagnostic {
  const { name, language } = migrationFileName(file) ?? {};
  if (name === undefined || language === 'ts') return readModule(file, text);
  const up = plainText(text);
  return sqlMistake(file, up) ?? { name, up, origin: { file, line: 1 } };
}

function readModule(file: string, text: string): MigrationText | Diagnostic {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const call = definition(source);
  if (call === undefined) {
    return problem(file, 'The file does not export a `migration` created by defineMigration');
  }
  const [name, up] = call.arguments.map(literalText);
  if (name === undefined || up === undefined || call.arguments.length !== 2) {
    return problem(file, 'The arguments of defineMigration are not string literals');
  }
  const literal = call.arguments[1];
  if (literal === undefined || !ts.isNoSubstitutionTemplateLiteral(literal)) return { name, up };
  const { line } = source.getLineAndCharacterOfPosition(literal.getStart(source));
  return { name, up, origin: { file, line: line + 1 } };
}

function problem(file: string, message: string): Diagnostic {
  const hint =
    'Write `export const migration: Migration = defineMigration(name, sql)` with two string literals.';
  return diagnostic('FWGEN035', { file }, message, hint);
}

/** Finds the call in `export const migration = defineMigration(...)`. */
function definition(source: ts.SourceFile): ts.CallExpression | undefined {
  const declarations = source.statements
    .filter(ts.isVariableStatement)
    .flatMap((statement) => [...statement.declarationList.declarations]);
  const declared = declarations.find(({ name }) => ts.isIdentifier(name) && name.text === 'migration');
  const value = declared?.initializer === undefined ? undefined : bareExpression(declared.initializer);
  return value !== undefined && ts.isCallExpression(value) && isDefineMigration(value) ? value : undefined;
}

function isDefineMigration({ expression }: ts.CallExpression): boolean {
  const name = ts.isPropertyAccessExpression(expression) ? expression.name : expression;
  return ts.isIdentifier(name) && name.text === 'defineMigration';
}

/** Returns the value of string and template literals, also of a concatenation. */
function literalText(node: ts.Expression): string | undefined {
  const value = bareExpression(node);
  if (ts.isStringLiteral(value) || ts.isNoSubstitutionTemplateLiteral(value)) return value.text;
  if (!ts.isBinaryExpression(value) || value.operatorToken.kind !== ts.SyntaxKind.PlusToken) return undefined;
  const [left, right] = [literalText(value.left), literalText(value.right)];
  return left === undefined || right === undefined ? undefined : left + right;
}
