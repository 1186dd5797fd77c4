import { quote, templateText } from './print/strings.js';
import { Renderer } from './render.js';

/** View of `change.hbs`: a migration that changes tables. */
export interface ChangeView {
  /** Name of the migration, quoted. */
  readonly name: string;
  /** SQL statements without semicolons, safe in a template literal. */
  readonly statements: readonly string[];
}

/** Returns the text of a migration that runs these statements. */
export function emitChange(name: string, statements: readonly string[]): string {
  const view: ChangeView = { name: quote(name), statements: statements.map(templateText) };
  return new Renderer().own('change')(view);
}
