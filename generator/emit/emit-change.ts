import type { NamedMigration } from './migration-names.js';
import { quote, templateText } from './print/strings.js';
import { Renderer } from './render.js';

/** View of `change.hbs`: a migration that changes tables. */
export interface ChangeView {
  /** Name of the migration, quoted. */
  readonly name: string;
  /** Comments that declare the place and the tables of the migration, safe in a template literal. */
  readonly header: readonly string[];
  /** SQL statements without semicolons, safe in a template literal. */
  readonly statements: readonly string[];
}

/** Returns the text of a migration that runs these statements. */
export function emitChange({ name, header }: NamedMigration, statements: readonly string[]): string {
  const view: ChangeView = {
    name: quote(name),
    header: header.map(templateText),
    statements: statements.map(templateText),
  };
  return new Renderer().own('change')(view);
}
