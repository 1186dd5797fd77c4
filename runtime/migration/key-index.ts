import type { IndexFacts } from './schema-snapshot.js';

/** The unique index of a natural key. */
export interface ExpectedIndex {
  readonly name: string;
  /** In the order of the key's fields. */
  readonly columns: readonly string[];
  /** States of rows that the index excludes. */
  readonly deletedStates: readonly string[];
}

/** Whether an index, under any name, is the index of the key. */
export function isIndexOf({ columns, deletedStates }: ExpectedIndex, found: IndexFacts): boolean {
  const isSame = (a: readonly string[], b: readonly string[]): boolean =>
    a.length === b.length && a.every((each) => b.includes(each));
  return isSame(columns, found.columns) && isSame(deletedStates, statesIn(found.predicate));
}

/** The literals of a predicate in the server's spelling: `(state <> ALL (ARRAY['GONE'::text, 'LOST'::text]))`. */
function statesIn(predicate: string | undefined): readonly string[] {
  const literals = [...(predicate ?? '').matchAll(/'((?:[^']|'')*)'/g)];
  return literals.map(([, text = '']) => text.replaceAll("''", "'"));
}

/** Changes of the unique indexes of one table. */
export interface IndexChanges {
  /** SQL statements without semicolons, in order. */
  readonly statements: readonly string[];
  /** Indexes of keys that no model has any more. */
  readonly leftOver: readonly IndexFacts[];
}

/**
 * The changes from a table's existing indexes to those that its model's keys need.
 *
 * @param found existing indexes
 * @param quote quotes a name for SQL
 */
export function planIndexes(
  table: string,
  wanted: readonly (ExpectedIndex & { readonly definition: string })[],
  found: readonly IndexFacts[],
  quote: (name: string) => string,
): IndexChanges {
  const statements: string[] = [];
  const used = new Set<IndexFacts>();
  for (const index of wanted) {
    const fitting = found.filter((each) => isIndexOf(index, each));
    const exact = fitting.find(({ name }) => name === index.name) ?? fitting[0];
    const namesake = found.find(({ name }) => name === index.name);
    if (exact !== undefined) {
      used.add(exact);
      if (exact.name !== index.name)
        statements.push(`alter index ${quote(exact.name)} rename to ${quote(index.name)}`);
      continue;
    }
    if (namesake !== undefined) {
      used.add(namesake);
      statements.push(dropIndex(table, namesake, quote));
    }
    statements.push(index.definition);
  }
  const isKey = ({ name }: IndexFacts): boolean => name.startsWith(`${table}_`) && name.endsWith('_key');
  return { statements, leftOver: found.filter((each) => !used.has(each) && isKey(each)) };
}

/** SQL that drops a unique index. The index of a constraint cannot be dropped by itself. */
export function dropIndex(
  table: string,
  { name, isConstraint }: IndexFacts,
  quote: (name: string) => string,
): string {
  return isConstraint
    ? `alter table ${quote(table)} drop constraint ${quote(name)}`
    : `drop index ${quote(name)}`;
}
