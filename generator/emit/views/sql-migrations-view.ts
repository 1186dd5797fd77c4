import type { Emission } from '../emission.js';
import { commentText, quote, templateText } from '../print/strings.js';
import { type HeaderView, headerView } from './header-view.js';

/** View of `sql-migrations.hbs`: the texts of `.sql` files, which compilers do not copy to their output. */
export interface SqlMigrationsView extends HeaderView {
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
  /** Lines of the SQL text, safe in a template literal. */
  readonly lines: readonly string[];
}

/** Builds the view of `sql-migrations.hbs`. */
export function sqlMigrationsView(emission: Emission): SqlMigrationsView {
  const taken = new Set<string>();
  const migrations = emission.schema.migrations.flatMap(({ file: path, name, sql }): SqlMigrationView[] => {
    if (sql === undefined) return [];
    const number = /^\d+/.exec(name)?.[0] ?? '';
    let variable = `migration${number}`;
    for (let count = 2; taken.has(variable); count += 1) variable = `migration${number}_${count}`;
    taken.add(variable);
    const lines = sql
      .split('\n')
      .map((line, index) => emission.at({ file: path, line: index + 1, column: 1 }, templateText(line)));
    return [{ path, pathText: commentText(path), file: quote(path), variable, name: quote(name), lines }];
  });
  return { ...headerView(emission.paths.source), migrations };
}
