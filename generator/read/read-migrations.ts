import { existsSync, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { ts } from 'ts-morph';
import { compareText, diagnostic } from '../diagnostics.js';
import type { MigrationFile } from '../schema/project-schema.js';
import { moduleIndex } from './module-index.js';
import type { ReadContext } from './read-context.js';

/** The migrations that exist, sorted by name. They belong to the user: they are read as text, never rewritten. */
export function readMigrations(context: ReadContext, projectDirectory: string): readonly MigrationFile[] {
  const folder = context.paths.migrations;
  if (!existsSync(join(projectDirectory, folder))) return [];
  return readdirSync(join(projectDirectory, folder))
    .filter((name) => /\.ts$/.test(name) && !/\.(d|test|test-d)\.ts$/.test(name))
    .sort(compareText)
    .map((name) => readMigration(context, posix.join(folder, name)))
    .filter((migration) => migration !== undefined);
}

function readMigration(context: ReadContext, file: string): MigrationFile | undefined {
  const name = posix.basename(file, '.ts');
  const number = /^(\d{4,})_[\w-]+$/.exec(name)?.[1];
  const source = context.sources.load(file);
  const exported = source !== undefined && exportsMigration(source);
  if (number === undefined || !exported) {
    context.diagnostics.push(
      diagnostic(
        'FWGEN035',
        { file },
        number === undefined ? 'The file name has no number' : 'The file exports no `migration`',
        'Name it like 0002_add_index.ts and write `export const migration: Migration = defineMigration(...)`.',
      ),
    );
    return undefined;
  }
  return { file, name, number: Number(number), creates: createdTables(context.sources.text(file) ?? '') };
}

function exportsMigration(source: ts.SourceFile): boolean {
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
