import { diagnostic } from '../diagnostics.js';
import type { MigrationFile } from '../schema/project-schema.js';
import { ts } from './compiler.js';
import {
  createdTables,
  isMigrationName,
  migrationFileName,
  migrationPlace,
  sqlMistake,
} from './migration-files.js';
import { moduleIndex } from './module-index.js';
import type { ReadContext } from './read-context.js';

/** Reads a file of the migrations folder as text. Migrations belong to the user and are never rewritten. */
export function readMigration(context: ReadContext, file: string): MigrationFile | undefined {
  const { name = '', language } = migrationFileName(file) ?? {};
  const isNamed = isMigrationName(name);
  const text = context.sources.text(file) ?? '';
  if (isNamed && language === 'sql') {
    const mistake = sqlMistake(file, text);
    if (mistake !== undefined) context.diagnostics.push(mistake);
    return { file, name, ...migrationPlace(text, language), creates: createdTables(text), sql: text };
  }
  const isMigration = /^export const migration\b/m.test(text) || exportsMigration(context, file);
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

function exportsMigration(context: ReadContext, file: string): boolean {
  const source = context.sources.load(file);
  if (source === undefined) return false;
  const { declarations, exports } = moduleIndex(source);
  const declaration = declarations.get('migration');
  return declaration?.kind === ts.SyntaxKind.VariableDeclaration && exports.get('migration') === 'migration';
}
