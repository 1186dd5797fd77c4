import type { Emission } from '../emission.js';
import { Imports } from '../print/imports.js';
import { commentText, quote, templateText } from '../print/strings.js';
import { type HeaderView, headerView } from './header-view.js';

/** View of `sql-migrations.hbs`: the texts of `.sql` files, which compilers do not copy to their output. */
export interface SqlMigrationsView extends HeaderView {
  /** Import statements, complete. */
  readonly imports: readonly string[];
  /** Local names of the runtime's exports. */
  readonly defineMigration: string;
  readonly migrationType: string;
  readonly migrations: readonly SqlMigrationView[];
}

/** One `.sql` file. */
export interface SqlMigrationView {
  /** Project-relative path. */
  readonly path: string;
  /** Path, safe in a comment. */
  readonly pathText: string;
  /** Path, quoted. */
  readonly file: string;
  /** Name of the export. */
  readonly variable: string;
  /** Name of the migration, quoted. */
  readonly name: string;
  /** SQL text, safe in a template literal. */
  readonly text: string;
}

/** Builds the view of `sql-migrations.hbs`. */
export function sqlMigrationsView(emission: Emission, file: string, sourceFolder: string): SqlMigrationsView {
  const imports = new Imports(file, []);
  const defineMigration = imports.runtimeValue('defineMigration');
  const migrationType = imports.runtimeType('Migration');
  const migrations = emission.schema.migrations.flatMap(({ file: path, name, sql }): SqlMigrationView[] => {
    if (sql === undefined) return [];
    const variable = imports.reserve(`migration${/^\d+/.exec(name)?.[0] ?? ''}`);
    const text = sql
      .split('\n')
      .map((line, index) => emission.at({ file: path, line: index + 1, column: 1 }, templateText(line)))
      .join('\n');
    return [{ path, pathText: commentText(path), file: quote(path), variable, name: quote(name), text }];
  });
  return {
    ...headerView(sourceFolder),
    imports: imports.statements(),
    defineMigration,
    migrationType,
    migrations,
  };
}
