import { diagnostic } from '../diagnostics.js';
import type { MigrationFile } from '../schema/project-schema.js';
import { ts } from './compiler.js';
import { migrationFileName, migrationNumber, sqlMistake } from './migration-files.js';
import { moduleIndex } from './module-index.js';
import type { ReadContext } from './read-context.js';

/** Reads a file of the migrations folder as text. Migrations belong to the user and are never rewritten. */
export function readMigration(context: ReadContext, file: string): MigrationFile | undefined {
  const { name = '', language } = migrationFileName(file) ?? {};
  const number = migrationNumber(name);
  const text = context.sources.text(file) ?? '';
  if (number !== undefined && language === 'sql') {
    const mistake = sqlMistake(file, text);
    if (mistake !== undefined) context.diagnostics.push(mistake);
    return { file, name, number, creates: createdTables(text), sql: text };
  }
  const exported = language === 'ts' && (AS_WRITTEN.test(text) || exportsMigration(context, file));
  if (number === undefined || !exported) {
    context.diagnostics.push(
      diagnostic(
        'FWGEN035',
        { file },
        number === undefined
          ? 'The file name does not start with a number'
          : 'The file does not export `migration`',
        language === 'sql'
          ? 'Name it like 0002_add_index.sql.'
          : 'Name it like 0002_add_index.ts, and write `export const migration: Migration = defineMigration(...)`.',
      ),
    );
    return undefined;
  }
  return { file, name, number, creates: createdTables(text) };
}

/** Matches a module exactly as the generator writes it. Such a module has no other content and need not be parsed. */
const AS_WRITTEN =
  /^(?:\/\/[^\n\u2028\u2029]*\n)*import \{ defineMigration, type Migration \} from 'fw-actions\/codegen';\n\nexport const migration: Migration = defineMigration\(\n {2}'\w*',\n {2}`[^`\\$]*`,\n\);\n$/;

function exportsMigration(context: ReadContext, file: string): boolean {
  const source = context.sources.load(file);
  if (source === undefined) return false;
  const { declarations, exports } = moduleIndex(source);
  const declaration = declarations.get('migration');
  return declaration?.kind === ts.SyntaxKind.VariableDeclaration && exports.get('migration') === 'migration';
}

const CREATE_TABLE =
  /\bcreate\s+table\s+(?:if\s+not\s+exists\s+)?(?:"((?:[^"]|"")+)"|([\p{L}_][\p{L}\p{N}_$]*))/giu;

function createdTables(text: string): readonly string[] {
  return [...text.matchAll(CREATE_TABLE)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain?.toLowerCase() ?? '',
  );
}
