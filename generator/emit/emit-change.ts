import type { NamedMigration } from './migration-names.js';
import { quote, templateText } from './print/strings.js';
import { Renderer } from './render.js';

/** View of `change.hbs`: a migration that changes tables. */
export interface ChangeView {
  /** Name of the migration, quoted. */
  readonly name: string;
  /** Lines of SQL, safe in a template literal: comments that declare its place and its tables, then statements. */
  readonly lines: readonly string[];
}

/** Returns the text of a migration that runs these statements. */
export function emitChange({ name, header }: NamedMigration, statements: readonly string[]): string {
  const lines = [...header, ...statements.flatMap((statement) => `${statement};`.split('\n'))];
  const view: ChangeView = { name: quote(name), lines: lines.map(templateText) };
  return new Renderer().render('change', view);
}
