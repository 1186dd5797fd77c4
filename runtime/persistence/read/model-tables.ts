/** Tables of the models for which this process has a repository. */
const known = new Set<string>();

/** Registers a relation as a model's table. Reading a table, unlike a view, runs no code of the application. */
export function declareModelTable(table: string): void {
  known.add(table);
}

/**
 * Whether a relation is a table of this package or of a model. Any other relation may be a view, whose functions may
 * write.
 */
export function isPlainTable(schema: string | undefined, name: string): boolean {
  return schema === 'eventlog' || (schema === undefined && known.has(name));
}
