import { diagnostic } from '../diagnostics.js';
import type { MigrationFile } from '../schema/project-schema.js';
import {
  createdTables,
  isMigrationName,
  migrationFileName,
  migrationPlace,
  sqlMistake,
} from './migration-files.js';
import type { ReadContext } from './read-context.js';

/** `export const migration = ...` or `export { other, migration }` */
const EXPORTS_MIGRATION = /^export (?:const migration\b|\{[^}]*\bmigration\s*[,}])/m;

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
